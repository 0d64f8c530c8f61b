"""The pages of a database file as its last commit left them, whatever SQLite says of it.

See "Database File Format" of SQLite: "The Write-Ahead Log" and "The Database Header".
"""

from __future__ import annotations

import struct
from pathlib import Path

USUAL_SIZE = 4096
LEAST_SIZE, MOST_SIZE = 512, 65_536
HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"

_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = 0x377F0682
"""The last bit says that its checksums are of big-endian numbers."""


class Pages:
    """Read one by one, by their number from 1 on."""

    def __init__(self, path: Path) -> None:
        """``path``: of the file, which may be missing; its log lies beside it."""
        self._file = path.read_bytes() if path.is_file() else b""
        log = Path(f"{path}-wal")
        self._log = log.read_bytes() if log.is_file() else b""
        self.size = _page_size(self._file, self._log)
        self._frames, committed = _committed_frames(self._log, self.size)
        self.count = max(committed, -(-len(self._file) // self.size))

    def read(self, number: int) -> bytes | None:
        """The page; None if it is not there, not whole, or holds zeros alone."""
        place = self._frames.get(number)
        data, start = (self._file, (number - 1) * self.size) if place is None else (self._log, place)
        page = data[start : start + self.size] if 1 <= number <= self.count else b""
        return page if len(page) == self.size and page.count(0) < self.size else None


def _page_size(file: bytes, log: bytes) -> int:
    """As the file or its log says; a size that is none is damage, and ours is the usual one."""
    said = int.from_bytes(file[16:18], "big") if file.startswith(MAGIC) else int.from_bytes(log[8:12], "big")
    said = MOST_SIZE if said == 1 else said
    return said if LEAST_SIZE <= said <= MOST_SIZE and said & (said - 1) == 0 else USUAL_SIZE


def _committed_frames(log: bytes, size: int) -> tuple[dict[int, int], int]:
    """Where the newest committed state of each page begins in the log, and how many pages the database has then."""
    frames: dict[int, int] = {}
    if len(log) < _LOG_HEADER:
        return frames, 0
    magic, _, said_size, _, salt, _, _ = struct.unpack(">IIII8sII", log[:_LOG_HEADER])
    order = ">" if magic & 1 else "<"
    if magic & ~1 != _LOG_MAGIC or said_size != size:
        return frames, 0
    sums = _checksum(log[:24], (0, 0), order)
    if sums != struct.unpack(">II", log[24:32]):
        return frames, 0
    since_commit: dict[int, int] = {}
    count = 0
    for start in range(_LOG_HEADER, len(log) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, pages, frame_salt, *said = struct.unpack(">II8sII", log[start : start + _FRAME_HEADER])
        content = start + _FRAME_HEADER
        sums = _checksum(log[start : start + 8] + log[content : content + size], sums, order)
        if frame_salt != salt or sums != tuple(said):
            break
        since_commit[number] = content
        if pages:
            frames |= since_commit
            since_commit, count = {}, pages
    return frames, count


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for index in range(0, len(words), 2):
        first = (first + words[index] + second) & 0xFFFFFFFF
        second = (second + words[index + 1] + first) & 0xFFFFFFFF
    return first, second
