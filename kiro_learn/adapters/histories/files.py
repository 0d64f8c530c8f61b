"""Finds files of sessions, and reads them: one JSON object in a file, one in each line, or Markdown.

Symbolic links are not followed. A file may have any length, and may be damaged. Only a line feed ends a line of JSON:
U+2028 and the like are part of it. A last line without an end is not read. The long strings in a line that is too long
are cut while it is read, so that the rest of the line is still read.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from kiro_learn.ports.histories import HistoryPlace, PastSession, Skipped
from kiro_learn.wire.hook_payload import both_ends, read_whole_object

MAX_SESSION_ID = 128


def agent_folder(place: HistoryPlace, name: str, variable: str = "") -> Path:
    """The folder that the environment variable ``variable`` names, else ``name`` in the user's home."""
    moved = place.environment.get(variable, "") if variable else ""
    return Path(moved) if moved.startswith("/") else place.user / name


def application_folders(place: HistoryPlace) -> tuple[Path, ...]:
    """The folders in which desktop programs keep their files, on Linux or macOS."""
    if sys.platform == "darwin":
        return (place.user / "Library" / "Application Support",)
    return (agent_folder(place, ".config", "XDG_CONFIG_HOME"),)


def files_below(folder: Path, *suffixes: str, depth: int = 1) -> Iterator[Path]:
    """Regular files in ``folder``, ``depth`` folders deep, with one of the suffixes; none if it does not exist."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:
                yield from files_below(Path(entry.path), *suffixes, depth=depth - 1)
        elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def session_in(path: Path, session_id: str, *, folder: str = "") -> Iterator[PastSession]:
    """The session in the file ``path``; none if the file is gone, or the id is empty or too long."""
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return
    if 0 < len(session_id) <= MAX_SESSION_ID:
        yield PastSession(
            session_id=session_id,
            path=path,
            changed_at=datetime.fromtimestamp(found.st_mtime, UTC),
            size_bytes=found.st_size,
            state=f"{found.st_ino} {found.st_size} {found.st_mtime_ns}",
            folder=folder,
        )


def not_counted(_reason: str) -> None:
    """A ``Skipped`` that does nothing: skipped lines are counted when events are made, not in earlier readings."""


def digest_of(text: str) -> str:
    """A digest as an id for what has none. It must never change, or the next import brings in all again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


MOST_BYTES = 67_108_864

NO_JSON_FILE = "files that are no JSON object"
TOO_LONG_FILE = "files too long to read"


def json_document(path: Path, skipped: Skipped) -> dict[str, Any]:
    """The JSON object in ``path``; empty if the file holds none or is too long. Raises OSError."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        skipped(TOO_LONG_FILE)
        return {}
    fields = read_whole_object(text.decode("utf-8-sig", "replace"))
    if fields is None:
        skipped(NO_JSON_FILE)
    return fields or {}


LONG_LINE_BYTES = 8_388_608
"""The length from which on the strings in a line are cut. A line that is still longer then is left out."""
HEAD_BYTES = 262_144
TAIL_BYTES = 65_536
"""The bytes of the beginning and of the end that are kept of a string in such a line."""

NO_JSON = "lines that are no JSON object"
TORN = "last lines without an end"
TOO_LONG = "lines too long to read"


@attrs.frozen
class JsonLine:
    """One JSON object and the number of its line."""

    number: int
    """The number of the line, from 0. Lines that are left out are counted too."""
    fields: dict[str, Any]


def json_lines(path: Path, skipped: Skipped) -> Iterator[JsonLine]:
    """The JSON objects in ``path``, one by one. Raises OSError."""
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file, skipped)):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
            if not text.strip():
                continue
            fields = read_whole_object(text.decode("utf-8", "replace"))
            if fields is None:
                skipped(NO_JSON)
            else:
                yield JsonLine(number, fields)


def _lines(file: BinaryIO, skipped: Skipped) -> Iterator[bytes]:
    """Each line with its line feed; an empty one for a line that is left out."""
    while piece := file.readline(LONG_LINE_BYTES):
        is_long = len(piece) == LONG_LINE_BYTES and not piece.endswith(b"\n")
        line = _shortened(piece, file) if is_long else piece
        if not line.endswith(b"\n"):
            skipped(TORN)
        elif len(line) > LONG_LINE_BYTES:
            skipped(TOO_LONG)
            yield b""
        else:
            yield line


def _shortened(piece: bytes, file: BinaryIO) -> bytes:
    """The line that begins with ``piece``, with its long strings cut. It may still be too long."""
    line = _ShortenedLine()
    while piece:
        line.add(piece)
        if piece.endswith(b"\n"):
            return bytes(line.kept) + b"\n"
        piece = file.readline(LONG_LINE_BYTES)
    return b""


class _ShortenedLine:
    """Takes a line in pieces, and keeps only the beginning and the end of each string in it."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self._text: bytearray | None = None
        """The kept part of the string that is open, its beginning and its end so far; None outside of strings."""
        self._is_cut = False
        self._ending = 0
        """The count of backslashes at the end of the open string, those that were cut included."""

    def add(self, piece: bytes) -> None:
        place = 0
        while place < len(piece):
            end = self._next_quote(piece, place)
            self._keep(piece[place : len(piece) if end < 0 else end])
            if end < 0:
                return
            self._open_or_close()
            place = end + 1

    def _next_quote(self, piece: bytes, start: int) -> int:
        """The place of the next quote that opens or closes a string; -1 if there is none in this piece."""
        place = start
        while (place := piece.find(b'"', place)) >= 0:
            if self._text is None or not self._is_escaped(piece, start, place):
                return place
            place += 1
        return -1

    def _is_escaped(self, piece: bytes, start: int, place: int) -> bool:
        before = _backslashes(piece, start, place)
        return (before + (self._ending if before == place - start else 0)) % 2 == 1

    def _keep(self, part: bytes | bytearray) -> None:
        if self._text is None:
            self.kept += part[: max(0, LONG_LINE_BYTES + 1 - len(self.kept))]
            return
        self._text += part
        count = _backslashes(part, 0, len(part))
        self._ending = count + (self._ending if count == len(part) else 0)
        if len(self._text) > 2 * (HEAD_BYTES + TAIL_BYTES):
            self._is_cut = True
            del self._text[HEAD_BYTES : len(self._text) - TAIL_BYTES]

    def _open_or_close(self) -> None:
        if self._text is None:
            self._text, self._is_cut, self._ending = bytearray(), False, 0
        else:
            text: bytes | bytearray = self._text
            if self._is_cut:
                text = both_ends(bytes(text[:HEAD_BYTES]), bytes(text[-TAIL_BYTES:]))
            self._text = None
            self._keep(text)
        self.kept += b'"'


def _backslashes(text: bytes | bytearray, start: int, place: int) -> int:
    """The count of backslashes right before ``place``."""
    before = place
    while before > start and text[before - 1] == 0x5C:  # noqa: PLR2004  # a backslash
        before -= 1
    return place - before


LONG_TEXT_LINE_BYTES = 1_048_576
MOST_CHARACTERS = 524_288
"""The most characters of one block of lines."""

CUT = "texts that were cut"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def text_lines(path: Path, skipped: Skipped) -> Iterator[str]:
    """The lines of ``path`` without their line ends. Raises OSError."""
    with path.open("rb") as file:
        is_first, is_inside = True, False
        while piece := file.readline(LONG_TEXT_LINE_BYTES):
            if is_inside:
                skipped(CUT)
            else:
                yield piece.decode("utf-8-sig" if is_first else "utf-8", "replace").rstrip("\r\n")
            is_first, is_inside = False, not piece.endswith(b"\n")


class Fence:
    """Says whether the next line of Markdown is in a fenced block."""

    def __init__(self) -> None:
        self._mark = ""

    @property
    def is_open(self) -> bool:
        return bool(self._mark)

    def add(self, line: str) -> None:
        found = _FENCE.fullmatch(line)
        if found is None:
            return
        mark, rest = found.groups()
        if not self._mark:
            self._mark = "" if "`" in mark and "`" in rest else mark
        elif mark.startswith(self._mark) and not rest.strip():
            self._mark = ""

    def end(self) -> None:
        """Close a fence that the text left open."""
        self._mark = ""


def parted(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text outside of all fences, and the language and the text of each fence."""
    outside: list[str] = []
    inside: list[tuple[str, list[str]]] = []
    fence = Fence()
    for line in text.split("\n"):
        was_open = fence.is_open
        fence.add(line)
        if not was_open and fence.is_open:
            inside.append((line.strip("`~ \t").lower(), []))
        elif was_open and fence.is_open:
            inside[-1][1].append(line)
        elif not was_open:
            outside.append(line)
    return "\n".join(outside), [(language, "\n".join(lines)) for language, lines in inside]


class Block:
    """Lines that belong together, cut to MOST_CHARACTERS."""

    def __init__(self, number: int) -> None:
        self.number = number
        """The number of the block's first line, from 0."""
        self._lines: list[str] = []
        self._room = MOST_CHARACTERS

    def add(self, line: str, skipped: Skipped) -> None:
        if self._room <= 0:
            skipped(CUT)
            return
        self._room -= len(line) + 1
        self._lines.append(line.rstrip())

    @property
    def text(self) -> str:
        return "\n".join(self._lines).strip()

    @property
    def is_ended(self) -> bool:
        """Whether the block's last line is empty."""
        return bool(self._lines) and not self._lines[-1].strip()
