"""A record cut into passages: the pieces of its text that a block is made of, and that have vectors of their own.

Rules of this file: the same record always has the same passages, since their vectors are stored without the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from kiro_learn.model.record import ASKED, MemoryRecord
from kiro_learn.model.wording import letters

LEAST_CHARACTERS = 90
"""Sentences are joined until they have so many: 60 and 140 answer fewer questions in the same bytes
(docs/retrieval.md)."""

MOST_CHARACTERS = 600
"""Of a sentence: a longer one is cut between words, since a passage that has no room is not told at all."""

MOST_PASSAGES = 96
"""Of one record. What stands further back is found by its words, and told by whole records only."""

TEXT_CHARACTERS = 2_000
"""Of the text that was captured with a record: the rest of it is found by its words."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[\u3002\uff01\uff1f])\s*(?=\S)")
_ENDS_WITHOUT_BLANK = ("\u3002", "\uff01", "\uff1f")


@attrs.frozen
class Passage:
    """Some sentences of a record that stand together; those of one line are one line here too."""

    lines: tuple[str, ...]
    is_title: bool = False
    is_asked: bool = False
    """It is what a person typed, where the record says so."""

    @property
    def text(self) -> str:
        """Its lines, joined by line feeds."""
        return "\n".join(self.lines)


def passages_of(record: MemoryRecord) -> tuple[Passage, ...]:
    """The title, the passages of the summary, of the facts, then of a captured text's beginning; at most MOST_PASSAGES.

    The line that says what was asked has passages of its own. A heading begins a passage.
    """
    lines = [line for line in record.summary.splitlines() if line.strip()]
    asked = [lines.pop(0)] if lines and lines[0].startswith(ASKED) else []
    texts = (
        *(attrs.evolve(passage, is_asked=True) for passage in _joined(asked)),
        *_joined(lines),
        *_joined(record.facts),
        *_joined(_text_lines(record)),
    )
    return (Passage((record.title,), is_title=True), *texts)[:MOST_PASSAGES]


def _text_lines(record: MemoryRecord) -> list[str]:
    """None where the summary is the text's beginning."""
    text = "" if record.text.startswith(record.summary) else record.text[:TEXT_CHARACTERS]
    return [line for line in text.splitlines() if line.strip()]


def _joined(lines: Iterable[str]) -> Iterator[Passage]:
    waiting: list[str] = []
    size = 0
    for line in lines:
        if waiting and line.endswith(":") and not waiting[-1].endswith(":"):
            yield Passage(tuple(waiting))
            waiting, size = [], 0
        for number, sentence in enumerate(_sentences(line)):
            if number and waiting:
                waiting[-1] += sentence if waiting[-1].endswith(_ENDS_WITHOUT_BLANK) else f" {sentence}"
            else:
                waiting.append(sentence)
            size += letters(sentence)
            if size >= LEAST_CHARACTERS and not sentence.endswith(":"):
                yield Passage(tuple(waiting))
                waiting, size = [], 0
    if waiting:
        yield Passage(tuple(waiting))


def _sentences(line: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(line):
        rest = sentence
        while letters(rest) > MOST_CHARACTERS:
            most = MOST_CHARACTERS * len(rest) // letters(rest)
            end = rest.rfind(" ", most // 2, most + 1)
            yield rest[: end if end > 0 else most]
            rest = rest[end + 1 if end > 0 else most :]
        yield rest
