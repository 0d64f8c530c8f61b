"""When no model judges: which records say the same in the same words.

It errs on the side of two records. They are told apart by any word, number, version, negation or file, by whose words
they are, and by facts that contradict each other. What is overlooked is capitals at the start of a word, and the marks
that set text in bold, as code or as a list.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol

from kiro_learn.learning.extraction.asked import parted
from kiro_learn.learning.reconciliation.asked_again import is_asked_again, question_of, united_facts
from kiro_learn.learning.reconciliation.wording import Merge
from kiro_learn.model.record import MAX_FACTS, MemoryRecord, Origin
from kiro_learn.model.wording import bare_words

LONG_WORDS = 60
"""An answer this long is not given by chance to two different questions; a shorter one is the same only to the same."""

"""In a word read backwards: looked for from the front, they would be tried from each character of a word of marks."""

_DIGIT = re.compile(r"\d")
_NEGATION = re.compile(r".*(?:n't|n\u2019t)$|(?:no|not|none|never|nothing|without|cannot|nor|neither)$", re.IGNORECASE)


class Told(Protocol):
    """The fields by which two records, or drafts of records, are compared."""

    @property
    def title(self) -> str:
        """The title."""
        ...

    @property
    def summary(self) -> str:
        """The summary."""
        ...

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts, in order."""
        ...

    @property
    def files_touched(self) -> tuple[str, ...]:
        """Paths of files it is about."""
        ...

    @property
    def files_read(self) -> tuple[str, ...]:
        """Paths of files that were read."""
        ...

    @property
    def files_modified(self) -> tuple[str, ...]:
        """Paths of files that were changed."""
        ...

    @property
    def origin(self) -> Origin | None:
        """Whose words it was learned from; None if that is not known."""
        ...


def near_identical(records: Iterable[MemoryRecord]) -> list[Merge]:
    """The groups of ``records`` that say the same, each told by its newest, with the facts of all; by time.

    So are long answers to a question that was asked again, where they differ by a few lines.
    """
    groups: dict[Hashable, list[MemoryRecord]] = {}
    for record in records:
        group = groups.setdefault(essence(record), [])
        if all(agree(record.facts, other.facts) for other in group):
            group.append(record)
    return [_merged(group) for group in _with_asked_again(list(groups.values())) if len(group) > 1]


def is_negation(word: str) -> bool:
    """Whatever its case; punctuation at its ends is overlooked."""
    return _NEGATION.match(word.strip("*`\"'()[].,;:!?")) is not None


def _with_asked_again(groups: Sequence[list[MemoryRecord]]) -> list[list[MemoryRecord]]:
    """``groups``, and as one those whose newest answers the same question with nearly the same words as the next."""
    united: list[list[MemoryRecord]] = []
    places: dict[tuple[str, ...], int] = {}
    for group in sorted(groups, key=lambda each: _newest(each).created_at):
        question = question_of(_newest(group))
        place = places.get(question) if question else None
        if place is not None and is_asked_again(_newest(group), united[place]):
            united[place] += group
        else:
            places[question] = len(united)
            united.append(list(group))
    return united


def _newest(group: Sequence[MemoryRecord]) -> MemoryRecord:
    return max(enumerate(group), key=lambda found: (found[1].created_at, found[0]))[1]


def _merged(group: Sequence[MemoryRecord]) -> Merge:
    newest = _newest(group)
    same = [record for record in group if essence(record) == essence(newest)]
    others = [record for record in group if essence(record) != essence(newest)]
    facts = united_facts(newest, same, others)
    return Merge(
        record_ids=tuple(record.record_id for record in group),
        title=newest.title,
        summary=newest.summary,
        facts=facts[:MAX_FACTS],
    )


def essence(record: Told) -> Hashable:
    """Equal for two records only if they say the same, but for their facts."""
    question, answer = parted(record.summary)
    answered = bare_words(answer)
    files = frozenset((*record.files_touched, *record.files_read, *record.files_modified))
    asked = () if len(answered) >= LONG_WORDS else bare_words(question)
    return bare_words(record.title), answered, asked, files, record.origin


def agree(facts: Sequence[str], others: Sequence[str]) -> bool:
    """False if one says of something what the other says with another number, or denies."""
    own = {_subject(fact) for fact in set(facts) - set(others)}
    return own.isdisjoint(_subject(fact) for fact in set(others) - set(facts))


def _subject(fact: str) -> tuple[str, ...]:
    return tuple(word for word in bare_words(fact) if not (is_negation(word) or _DIGIT.search(word)))
