"""Which records are only replaced by one that holds what they say, and when a replacement keeps too little.

A model that learns past turns again may answer with one line for all of them. A person's words, a constraint and a
decision stay then; so does everything, where far less would come than goes, until a person has agreed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import attrs

from kiro_learn.learning.relearning import Supersession
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.wording import is_negation
from kiro_learn.retrieval.query.syntax import terms

MOST_RARE_TERMS = 8
LEAST_SHARE_HELD = Fraction(3, 4)
"""Of a record's rare words, each weighed by how few records have it: one that says the same in other words has three
of four."""

MOST_REPLACED_PER_NEW = 4
"""A model that tells several turns as one seldom takes more than four. Chosen, not measured."""
LEAST_CHARACTERS = 2_000
MOST_CHARACTERS_PER_NEW = 20
"""The built-in learner keeps about 850 characters of an answer; a model that words it anew keeps a third of that."""

_INSTRUCTING_WORDS = frozenset({"always", "never", "use", "uses", "used", "using"})
"""Most rules have one of them; a negation is looked at by itself."""

_ENDINGS = ("ing", "ed", "es", "ly", "s", "d", "e")
_LEAST_STEM = 3


def word_counts(records: Iterable[MemoryRecord]) -> Counter[str]:
    """In how many of ``records`` each word is, as ``holds`` compares words."""
    return Counter(word for record in records for word in stems(_text(record)))


def holds(new: MemoryRecord, record: MemoryRecord, counts: Mapping[str, int]) -> bool:
    """Whether ``new`` says what ``record`` does, as far as words tell.

    It has the numbers of the title, most of the record's rarest words, a negation if the title has one, and names the
    files. ``counts`` is of the project's records.
    """
    text = _text(new)
    return (
        _files(record) <= _files(new) | {file for file in _files(record) if file in text}
        and (not _denies(record.title) or _denies(text))
        and _holds_words(stems(text), record, counts)
    )


def without_losses(
    supersessions: Iterable[Supersession], counts: Mapping[str, int], merged: Mapping[RecordId, MemoryRecord]
) -> tuple[list[Supersession], tuple[MemoryRecord, ...]]:
    """``supersessions`` without the protected records that nothing new holds, and those.

    Args:
      merged: by id, what a new record becomes if it is merged in the same commit.
    """
    left: list[Supersession] = []
    lost: list[MemoryRecord] = []
    for supersession in supersessions:
        final = [merged.get(record.record_id, record) for record in supersession.new]
        pairs = list(zip(supersession.new, final, strict=True))
        going = [record for record in supersession.weak if not record.is_protected or _is_held(record, pairs, counts)]
        lost += [record for record in supersession.weak if record not in going]
        if going:
            left.append(attrs.evolve(supersession, weak=tuple(going)))
    return left, tuple(lost)


def is_far_less(going: Sequence[MemoryRecord], coming: Sequence[MemoryRecord]) -> bool:
    """``coming`` keeps so little of ``going`` that a person is to be asked: by their number, or by their text."""
    return len(going) > MOST_REPLACED_PER_NEW * len(coming) or says_far_less(coming, going)


def says_far_less(coming: Iterable[MemoryRecord], going: Iterable[MemoryRecord]) -> bool:
    """The text of ``coming`` is a small part of that of ``going``."""
    characters = sum(len(_text(record)) for record in going)
    return characters >= LEAST_CHARACTERS and characters > MOST_CHARACTERS_PER_NEW * sum(
        len(_text(record)) for record in coming
    )


def _is_held(
    record: MemoryRecord, pairs: Iterable[tuple[MemoryRecord, MemoryRecord]], counts: Mapping[str, int]
) -> bool:
    return any(holds(new, record, counts) and holds(final, record, counts) for new, final in pairs)


def _holds_words(words: frozenset[str], record: MemoryRecord, counts: Mapping[str, int]) -> bool:
    own = stems(f"{record.title}\n{record.summary}")
    numbers = {word for word in stems(record.title) if any(character.isdigit() for character in word)}
    # Of words that are equally rare, the longer ones say more.
    rare = sorted(own, key=lambda word: (counts.get(word, 0), -len(word), word))[:MOST_RARE_TERMS]
    weights = {word: Fraction(1, max(counts.get(word, 0), 1)) for word in rare}
    held = sum(weight for word, weight in weights.items() if word in words)
    return numbers <= words and held >= LEAST_SHARE_HELD * sum(weights.values())


def _text(record: MemoryRecord) -> str:
    return "\n".join((record.title, record.summary, *record.facts))


def _files(record: MemoryRecord) -> frozenset[str]:
    return frozenset((*record.files_touched, *record.files_read, *record.files_modified))


def _denies(text: str) -> bool:
    return any(is_negation(word) for word in text.split())


def stems(text: str) -> frozenset[str]:
    """The words of ``text`` without their endings, and without those that most rules have."""
    words = (word.casefold() for word in terms(text.replace('"', " ")))
    return frozenset(_stem(word) for word in words if word not in _INSTRUCTING_WORDS)


def _stem(word: str) -> str:
    """``word`` without one ending of English grammar, if enough is left."""
    if any(character.isdigit() for character in word):
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _LEAST_STEM), "")
    return word[: len(word) - len(ending)]
