"""Which memories hold the words of another one, so that forgetting that one alone leaves what it said.

Two memories of one turn quote the same prompt, and a merged one has the facts of all. What is compared are sentences:
as a whole where they are short, else every eight words of them that stand together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.wording import in_pairs
from kiro_learn.retrieval.query.stop_words import is_stop_word
from kiro_learn.retrieval.rendering.passages import word_runs

LEAST_WORDS = 4
"""Of a sentence: fewer words stand together in many memories by chance."""
MOST_WORDS = 8
"""Compared at once; who quotes half of a long sentence quotes it too."""
LEAST_TELLING = 3
"""Distinct words, of those that are compared at once, that do not only carry grammar."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")


def passages_of(record: MemoryRecord) -> tuple[str, ...]:
    """The sentences of ``record`` that are long enough to be known again, each once."""
    found = (text for field in _texts(record) for text in _ENDS.split(field))
    return tuple(dict.fromkeys(text for text in found if any(_telling_runs(_words(text)))))


def holding_words_of(forgotten: MemoryRecord, others: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    """Those of ``others`` that hold a sentence of ``forgotten``: from its events first, then the newest first."""
    sought = {run for passage in passages_of(forgotten) for run in _telling_runs(_words(passage))}
    events = set(forgotten.source_event_ids)
    found = [other for other in others if other.record_id != forgotten.record_id and _holds(other, sought)]
    found.sort(key=lambda other: (other.created_at, other.record_id), reverse=True)
    return sorted(found, key=lambda other: events.isdisjoint(other.source_event_ids))


def _holds(record: MemoryRecord, sought: set[tuple[str, ...]]) -> bool:
    lengths = {len(run) for run in sought}
    return any(run in sought for field in _texts(record) for run in _runs(_words(field), lengths))


def _texts(record: MemoryRecord) -> tuple[str, ...]:
    return record.title, record.summary, *record.facts, record.text


def _words(text: str) -> list[str]:
    return word_runs(in_pairs(text.casefold()))


def _telling_runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Of a sentence, what is looked for: all of it, or each stretch of MOST_WORDS."""
    if len(words) < LEAST_WORDS:
        return
    for run in _runs(words, {min(len(words), MOST_WORDS)}):
        if len({word for word in run if not is_stop_word(word)}) >= LEAST_TELLING:
            yield run


def _runs(words: Sequence[str], lengths: Iterable[int]) -> Iterator[tuple[str, ...]]:
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield tuple(words[start : start + length])
