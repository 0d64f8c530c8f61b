"""The lines of the daemon's log, over all of its files: the last ones, and those that come.

A log that has grown is put away as ``daemon.jsonl.1``, the one before as ``.2``, and so on, at any moment. So its files
are opened first and told apart by their inodes then; one that is open cannot be mistaken for another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

BLOCK_BYTES = 65_536


class Tail:
    """Reads one log, from its last lines on."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._file: BinaryIO | None = None
        """The newest file that is read."""
        self._begun = b""
        """A line that is not written to its end yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def last(self, count: int) -> list[bytes]:
        """The last ``count`` lines there are; what comes afterwards is ``new``."""
        lines: list[bytes] = []
        for file in self._opened():
            if self._file is not None and len(lines) >= count:
                file.close()
                continue
            lines = _last_lines(file, count - len(lines)) + lines
            if self._file is None:
                self._file = file
            else:
                file.close()
        return lines

    def new(self) -> Iterator[bytes]:
        """The lines that were written since, also those in files that were put away meanwhile."""
        newer = self._newer()
        if self._file is not None:
            yield from self._rest(self._file)
        for file in reversed(newer):
            if self._file is not None:
                self._file.close()
            self._file = file
            yield from self._rest(file)

    def _newer(self) -> list[BinaryIO]:
        """The files that were begun after the one that is read, the newest first."""
        known = None if self._file is None else _inode(os.fstat(self._file.fileno()))
        with suppress(FileNotFoundError):
            if _inode(self._log.stat()) == known:
                return []
        newer: list[BinaryIO] = []
        is_older = False
        for file in self._opened():
            is_older = is_older or _inode(os.fstat(file.fileno())) == known
            if is_older:
                file.close()
            else:
                newer.append(file)
        return newer

    def _opened(self) -> list[BinaryIO]:
        """The files there are, each once, the newest first."""
        numbers = (path.suffix[1:] for path in self._log.parent.glob(f"{self._log.name}.*"))
        names = [f"{self._log.name}.{number}" for number in sorted(map(int, filter(str.isdecimal, numbers)))]
        opened: dict[tuple[int, int], BinaryIO] = {}
        for name in (self._log.name, *names):
            with suppress(FileNotFoundError):
                file = self._log.with_name(name).open("rb")
                if opened.setdefault(_inode(os.fstat(file.fileno())), file) is not file:
                    file.close()
        return list(opened.values())

    def _rest(self, file: BinaryIO) -> Iterator[bytes]:
        while block := file.read(BLOCK_BYTES):
            *lines, self._begun = (self._begun + block).split(b"\n")
            yield from lines


def follow(tail: Tail, wait: Callable[[], bool]) -> Iterator[bytes]:
    """All new lines, for as long as ``wait`` says that somebody reads them; it is called when there is none."""
    while True:
        yield from tail.new()
        if not wait():
            return


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _last_lines(file: BinaryIO, count: int) -> list[bytes]:
    """At most ``count`` whole lines at the end of ``file``, which is left behind them."""
    end = size = file.seek(0, os.SEEK_END)
    text = b""
    while end and text.count(b"\n") <= count:
        start = max(0, end - BLOCK_BYTES)
        file.seek(start)
        text = file.read(end - start) + text
        end = start
    whole = text.rfind(b"\n") + 1
    file.seek(size - len(text) + whole)
    return text[:whole].split(b"\n")[:-1][-count:] if count else []
