"""Detects long answers to a repeated question: the newer one replaces both and keeps what only the older one says.

A listing of what is open, a status or a description of a branch is asked for again and again and changes by a line.
Only answers to the same question are compared, so a number that changed is the newer state of the same thing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kiro_learn.learning.extraction.asked import parted
from kiro_learn.learning.extraction.extractive.facts import new_ones
from kiro_learn.learning.extraction.extractive.prose import words
from kiro_learn.model.record import MAX_FACT, MAX_FACTS, MemoryRecord, Origin

LEAST_SHARE = 0.7
"""Jaccard similarity of the two answers' words, counted as multisets; chosen on the history cipher-box."""

LEAST_WORDS = 40
"""Of either answer: two short ones may differ in the one word that matters."""

_CONTEXT = " (after: "
"""What the built-in learner adds to a question that refers to the turn before."""

_DIGIT = re.compile(r"\d")


def question_of(record: MemoryRecord) -> tuple[str, ...]:
    """The words of the question that ``record`` answers; none if it tells no question."""
    question, _ = parted(record.summary)
    context_at = question.find(_CONTEXT, question.rfind("\n") + 1)
    return tuple(words(question[:context_at] if context_at >= 0 and question.endswith(")") else question))


def is_asked_again(newer: MemoryRecord, older: Sequence[MemoryRecord]) -> bool:
    """Whether ``newer`` and the last of ``older`` answer the same question nearly alike.

    False for a person's own words, and if the merged record had more than MAX_FACTS facts.
    """
    last = older[-1]
    if Origin.USER in (newer.origin, last.origin) or newer.origin != last.origin:
        return False
    counted, others = _counted(newer), _counted(last)
    shared, total = (counted & others).total(), (counted | others).total()
    is_long = min(counted.total(), others.total()) >= LEAST_WORDS
    return is_long and shared >= LEAST_SHARE * total and len(merged_facts(newer, (), older)) <= MAX_FACTS


def merged_facts(newest: MemoryRecord, same: Iterable[MemoryRecord], others: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """The facts of ``same``, which says what ``newest`` does, and of ``newest``; then what only ``others`` say."""
    facts = dict.fromkeys(fact for record in (*same, newest) for fact in record.facts)
    said = [text for record in others for text in _statements(record)]
    return (*facts, *new_ones(said, "\n".join((newest.title, newest.summary, *facts))))


def _statements(record: MemoryRecord) -> Sequence[str]:
    _, answer = parted(record.summary)
    lines = (line.strip() for line in answer.split("\n"))
    return [*(line[:MAX_FACT] for line in lines if line), *record.facts]


def _counted(record: MemoryRecord) -> Counter[str]:
    """The counted words of the answer, without numbers: these differ by when it was asked."""
    _, answer = parted(record.summary)
    return Counter(
        word for text in (record.title, answer, *record.facts) for word in words(text) if not _DIGIT.search(word)
    )
