"""Leaves out records that repeat others, and puts a newer record above the older one that it may correct.

Two texts are compared by the words they share (Jaccard 1912): it needs nothing but the texts at hand, and where all
but one word in ten is the same, the one that differs is mostly the value that changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from kiro_learn.model.feedback import ToldId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.word_runs import word_runs

SAME = 0.9
"""Share of common words from which two memories say the same."""

ALIKE = 0.7
"""The same, from which they speak of one thing, and the later may have overturned the earlier."""


def each_once(records: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """``records``, best first; of those that say the same only the newest, at the place of the best.

    One that is newer than another it is alike to comes right before that one, if it was behind.
    """
    told = _newer_above_older(_without_repeats([_Worded.of(record) for record in records]))
    return tuple(each.record for each in told)


def untold(records: Sequence[MemoryRecord], told: Collection[ToldId]) -> tuple[MemoryRecord, ...]:
    """``records`` without those that were ``told`` before, and without what adds nothing to these: what is alike to one
    of them and not newer, and what says the same in the same words.
    """
    before = [_Worded.of(record) for record in records if record.record_id in told]
    if not before:
        return tuple(records)
    others = [_Worded.of(record) for record in records if record.record_id not in told]
    return tuple(each.record for each in others if not any(_adds_nothing(each, known) for known in before))


def _adds_nothing(record: _Worded, known: _Worded) -> bool:
    if record.words == known.words:
        return True
    return not record.is_newer_than(known) and record.is_like(known, ALIKE)


@attrs.frozen
class _Worded:
    """A record and its distinct words."""

    record: MemoryRecord
    words: frozenset[str]

    @classmethod
    def of(cls, record: MemoryRecord) -> _Worded:
        text = "\n".join((record.title, record.summary, *record.facts))
        return cls(record, frozenset(word_runs(text.casefold())))

    def is_newer_than(self, other: _Worded) -> bool:
        return self.record.created_at > other.record.created_at

    def is_like(self, other: _Worded, share: float) -> bool:
        """Whether both have ``share`` of the words of either. It is no more than the shorter has beside the longer,
        so few pairs need their words compared.
        """
        fewer, more = sorted((len(self.words), len(other.words)))
        if not fewer or fewer / more < share:
            return False
        common = len(self.words & other.words)
        return common / (fewer + more - common) >= share


def _without_repeats(records: Sequence[_Worded]) -> list[_Worded]:
    told: list[_Worded] = []
    for record in records:
        place = next((place for place, other in enumerate(told) if record.is_like(other, SAME)), None)
        if place is None:
            told.append(record)
        elif record.is_newer_than(told[place]):
            told[place] = record
    return told


def _newer_above_older(records: Sequence[_Worded]) -> list[_Worded]:
    told: list[_Worded] = []
    for record in records:
        overturned = (
            place for place, other in enumerate(told) if record.is_newer_than(other) and record.is_like(other, ALIKE)
        )
        told.insert(next(overturned, len(told)), record)
    return told
