"""A record cut into passages: the pieces of its text that a block is made of, and that have vectors of their own.

Rules of this file: the same record always has the same passages, since their vectors are stored without the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from kiro_learn.model.record import ASKED, MemoryRecord

PASSAGE_CHARACTERS = 300
"""Lines are joined up to this length: 180 and 450 answer fewer questions in the same bytes (docs/retrieval.md)."""

LONGEST_LINE = 600
"""Characters of a line that stays whole; a longer one is cut at the ends of its sentences."""

MOST_PASSAGES = 64
"""Of one record. What stands further back is found by its words, and told by whole records only."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@attrs.frozen
class Passage:
    """Some lines of a record that stand together."""

    lines: tuple[str, ...]
    is_asked: bool = False
    """It is what a person typed, where the record says so."""

    @property
    def text(self) -> str:
        """Its lines, joined by line feeds."""
        return "\n".join(self.lines)


def passages_of(record: MemoryRecord) -> tuple[Passage, ...]:
    """The passages of the summary, then those of the facts; at most MOST_PASSAGES.

    The line that says what was asked is a passage of its own. A heading begins a passage.
    """
    lines = [line for line in record.summary.splitlines() if line.strip()]
    asked = [Passage((lines.pop(0),), is_asked=True)] if lines and lines[0].startswith(ASKED) else []
    return (*asked, *_joined(_short(lines)), *_joined(_short(record.facts)))[:MOST_PASSAGES]


def _short(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if len(line) <= LONGEST_LINE:
            yield line
        else:
            yield from _SENTENCE_END.split(line)


def _joined(lines: Iterable[str]) -> Iterator[Passage]:
    waiting: list[str] = []
    size = 0
    for line in lines:
        if waiting and (
            size + len(line) > PASSAGE_CHARACTERS or (line.endswith(":") and not waiting[-1].endswith(":"))
        ):
            yield Passage(tuple(waiting))
            waiting, size = [], 0
        waiting.append(line)
        size += len(line)
    if waiting:
        yield Passage(tuple(waiting))
