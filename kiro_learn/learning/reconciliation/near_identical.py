"""The rule that finds duplicates where no model judges: records that say the same in the same words.

What a person said twice of one act in other words is one principle. Else, in doubt, records stay separate: if any
word, number, version, negation, file or origin differs, or if their facts contradict each other. Ignored are capitals
at the start of a word, and the marks of bold text, code and lists.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

from kiro_learn.learning.reconciliation.judge import is_asked_again, merged_facts, parted, question_of
from kiro_learn.learning.reconciliation.plan import Merge, is_same_principle
from kiro_learn.learning.relearning import stems
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_FACTS, MemoryRecord, Origin
from kiro_learn.model.wording import bare_words, is_negation

LONG_WORDS = 60
"""Two equal answers at least this long count as duplicates even if the questions differ; shorter ones do not."""

_DIGIT = re.compile(r"\d")


def near_identical(records: Iterable[MemoryRecord]) -> list[Merge]:
    """The groups of ``records`` that say the same, each with the text of its newest and the facts of all; by time.

    Long answers to a repeated question that differ by a few lines are in one group too.
    """
    groups: dict[Hashable, list[MemoryRecord]] = {}
    for record in records:
        group = groups.setdefault(essence(record), [])
        if all(agree(record.facts, other.facts) for other in group):
            group.append(record)
    combined = _with_same_principle(_with_asked_again(list(groups.values())))
    return [_merged(group) for group in combined if len(group) > 1]


def _with_asked_again(groups: Sequence[list[MemoryRecord]]) -> list[list[MemoryRecord]]:
    """``groups``, with those combined whose newest records answer the same question in nearly the same words."""
    combined: list[list[MemoryRecord]] = []
    places: dict[tuple[str, ...], int] = {}
    for group in sorted(groups, key=lambda each: _newest(each).created_at):
        question = question_of(_newest(group))
        place = places.get(question) if question else None
        if place is not None and is_asked_again(_newest(group), combined[place]):
            combined[place] += group
        else:
            places[question] = len(combined)
            combined.append(list(group))
    return combined


def _with_same_principle(groups: Sequence[list[MemoryRecord]]) -> list[list[MemoryRecord]]:
    """``groups``, with those combined in which a person said the same of the same act."""
    combined: list[list[MemoryRecord]] = []
    for group in groups:
        before = next((each for each in combined if is_same_principle(_newest(each), _newest(group))), None)
        if before is None:
            combined.append(list(group))
        else:
            before += group
    return combined


def _newest(group: Sequence[MemoryRecord]) -> MemoryRecord:
    return max(enumerate(group), key=lambda found: (found[1].created_at, found[0]))[1]


def _merged(group: Sequence[MemoryRecord]) -> Merge:
    newest = _newest(group)
    same = [record for record in group if essence(record) == essence(newest)]
    others = [record for record in group if essence(record) != essence(newest)]
    facts = merged_facts(newest, same, others)
    return Merge(
        record_ids=tuple(record.record_id for record in group),
        title=newest.title,
        summary=newest.summary,
        facts=facts[:MAX_FACTS],
    )


def essence(record: MemoryRecord | RecordDraft) -> Hashable:
    """A key that is equal for two records only if they say the same; facts are compared by ``agree``."""
    question, answer = parted(record.summary)
    answered = bare_words(answer)
    files = frozenset((*record.files_touched, *record.files_read, *record.files_modified))
    asked = () if len(answered) >= LONG_WORDS else bare_words(question)
    return bare_words(record.title), answered, asked, files, record.origin


def agree(facts: Sequence[str], others: Sequence[str]) -> bool:
    """False if a fact of one differs from a fact of the other only by a number or a negation."""
    own = {_subject(fact) for fact in set(facts) - set(others)}
    return own.isdisjoint(_subject(fact) for fact in set(others) - set(facts))


def _subject(fact: str) -> tuple[str, ...]:
    return tuple(word for word in bare_words(fact) if not (is_negation(word) or _DIGIT.search(word)))


# Whether an answer only says again what is remembered: what an agent was told, it tells whoever asks.

TOLD_AGAIN_SIMILARITY = 0.5
"""Cosine from which a memory is looked at: a short answer and what it repeats are not near."""

_MOST_STEMS = 40
"""Of an answer: a longer one that adds nothing would be an accident."""
_LEAST_FOR_ONE_NEW, _SHARE_NEW = 3, 0.1
"""Of so many words one may be new, of more this share: a verb changes its form ("took")."""
_NAMES = re.compile(r"[\d_./\\@:#-]")
"""In a word that is a number or a name."""


def says_again(answer: MemoryRecord, known: MemoryRecord) -> bool:
    """Whether ``answer`` has no number, no name and hardly a word that ``known`` and its question do not have.

    False where the agent changed a file.
    """
    question, said = parted(answer.summary)
    if answer.origin is not Origin.ASSISTANT or answer.knowledge_type or answer.files_modified or not question:
        return False
    if known.created_at >= answer.created_at:
        return False
    own = stems("\n".join((said, *answer.facts))) - stems(question)
    new = own - stems("\n".join((known.title, known.summary, *known.facts)))
    if not own or len(own) > _MOST_STEMS or any(_NAMES.search(word) for word in new):
        return False
    return len(new) <= max(len(own) >= _LEAST_FOR_ONE_NEW, int(_SHARE_NEW * len(own)))
