"""Files of Markdown, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kiro_learn.ports.histories import Skipped

LONG_LINE_BYTES = 1_048_576
MOST_CHARACTERS = 524_288
"""Of one block of lines."""

CUT = "texts that were cut"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def text_lines(path: Path, skipped: Skipped) -> Iterator[str]:
    """The lines of ``path`` without their ends. Raises OSError."""
    with path.open("rb") as file:
        is_first, is_inside = True, False
        while piece := file.readline(LONG_LINE_BYTES):
            if is_inside:
                skipped(CUT)
            else:
                yield piece.decode("utf-8-sig" if is_first else "utf-8", "replace").rstrip("\r\n")
            is_first, is_inside = False, not piece.endswith(b"\n")


class Fence:
    """Whether the next line is within one."""

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
        """It was never closed."""
        self._mark = ""


def parted(text: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands outside of all fences, and of each fence its language and its text."""
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
    """Lines that belong together, as many as are kept."""

    def __init__(self, number: int) -> None:
        self.number = number
        """Of its first line, from 0."""
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
        """Its last line is empty."""
        return bool(self._lines) and not self._lines[-1].strip()
