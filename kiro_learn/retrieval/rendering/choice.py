"""Which passages of the memories that were found are told, in so many bytes.

    worth of a passage = (score / best score)^1.75 x (1 + nearness + 2 x word share + 0.5 x place + 0.5 if it was asked)
                         x 0.85 for the title and each passage of the same memory that are told already
                         x (1.5 - likeness), if another passage or title that is told is more than 0.5 like it

The best is told next, until the block is full. Before the first passage of a memory comes its title, which is a passage
too: often it is the conclusion, so a memory may be told by its title alone.

``nearness`` is in standard deviations above what is usual for whole memories; ``word share`` is the share of the words
of the query, by how rare they are among these passages; ``place`` is 1 in the first 300 characters of an answer and 0.5
in the next 300, since agents put the conclusion first; ``mean_pairwise_cosine`` is the cosine between two passages.
docs/retrieval.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import attrs
import numpy as np

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import Matrix
from kiro_learn.retrieval.ranking.vector_rows import Doubles
from kiro_learn.retrieval.ranking.word_shares import word_shares
from kiro_learn.retrieval.rendering.passages import Passage

SCORE_POWER = 1.75
WORDS_WEIGHT = 2.0
PLACE_WEIGHT = 0.5
PLACE_CHARACTERS = 300
ASKED_WEIGHT = 0.5
NEXT_PASSAGE = 0.85
"""Share of its worth that a passage keeps for each one of the same memory that is told already."""

LIKE = 0.5
"""Cosine from which on two passages say partly the same: on what is above it, a passage loses of its worth."""

LEAST_PASSAGE_BYTES = 60
"""Room in which no passage is looked for any more: few are so short, and each that does not fit costs 15 µs."""


@attrs.frozen(eq=False)
class Excerpted:
    """A memory that was found, and what is known of its passages."""

    record: MemoryRecord
    score: float
    """As the fusion gave it, above 0."""
    passages: tuple[Passage, ...]
    """The title first."""
    nearness: Sequence[float] | None = None
    """Of each passage: deviations above what is usual. None: it has no vectors yet."""
    cosines: Sequence[float] = ()
    """Of each passage with the query, -1 to 1; none if it has no vectors yet."""
    vectors: Matrix | None = None
    """Of each passage, of unit length; None if it has none yet."""
    note: str = ""
    """Said beside its day, in one harmless line."""


class Sizes(Protocol):
    """How many bytes it takes to tell something of a memory."""

    @property
    def heading_bytes(self) -> int:
        """Bytes of the memory's heading line."""
        ...

    def passage_bytes(self, place: int) -> int:
        """Bytes of the line that tells the passage at ``place``."""
        ...


def chosen(
    found: Sequence[Excerpted], sizes: Sequence[Sizes], terms: Sequence[str], room: int
) -> Mapping[int, Sequence[int]]:
    """By number of a memory that is told, the places of its passages that are; none where its title is enough."""
    memories = np.array([number for number, each in enumerate(found) for _ in each.passages])
    firsts = np.searchsorted(memories, np.arange(len(found)))
    worths = np.array(_worths(found, terms))
    news = _News.of(found)
    told: dict[int, list[int]] = {}
    while len(worths) and room >= LEAST_PASSAGE_BYTES:
        best = int(np.argmax(worths * news.shares))
        if worths[best] <= 0:
            break
        number = int(memories[best])
        first, is_open = firsts[number], number in told
        size = sizes[number].passage_bytes(best - first) if is_open else sizes[number].heading_bytes
        if size > room:
            worths[best if is_open else memories == number] = 0
            continue
        room -= size
        worths[memories == number] *= NEXT_PASSAGE
        worths[best if is_open else first] = 0
        told.setdefault(number, []).extend([int(best - first)] if is_open else [])
        news.tell(best if is_open else first)
    return told


def _worths(found: Sequence[Excerpted], terms: Sequence[str]) -> list[float]:
    """Of each passage of each memory, what it is worth first; nothing for a title that has passages behind it."""
    best = max((each.score for each in found), default=1.0)
    shares = iter(word_shares([passage.text.lower() for each in found for passage in each.passages], terms))
    return [worth for each in found for worth in _worths_of(each, best, shares)]


def _worths_of(each: Excerpted, best: float, shares: Iterator[float]) -> Iterator[float]:
    factor = (each.score / best) ** SCORE_POWER
    before = 0
    for number, passage in enumerate(each.passages):
        worth = 1.0 + WORDS_WEIGHT * next(shares)
        if each.nearness is not None:
            worth += max(0.0, each.nearness[number])
        if passage.is_asked:
            worth += ASKED_WEIGHT
        elif not passage.is_title:
            worth += PLACE_WEIGHT * max(0.0, 1 - 0.5 * (before // PLACE_CHARACTERS))
            before += len(passage.text)
        yield 0.0 if passage.is_title and len(each.passages) > 1 else factor * worth


@attrs.define(eq=False)
class _News:
    """How much of each passage is not said by what is told already."""

    shares: Doubles
    _vectors: Matrix
    """Of all passages; zeros for those that have none."""

    @classmethod
    def of(cls, found: Sequence[Excerpted]) -> _News:
        dimension = max((each.vectors.shape[1] for each in found if each.vectors is not None), default=0)
        blocks = [
            np.zeros((len(each.passages), dimension), np.float32) if each.vectors is None else each.vectors
            for each in found
        ]
        vectors = np.concatenate(blocks) if blocks else np.zeros((0, 0), np.float32)
        return cls(np.ones(len(vectors)), vectors)

    def tell(self, passage: int) -> None:
        mean_pairwise_cosine = self._vectors @ self._vectors[passage]
        np.minimum(self.shares, 1 - np.maximum(0.0, mean_pairwise_cosine - LIKE), out=self.shares)
