"""What became of a memory that was told, which memories hold the same words, and which things hang together."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.wording import in_pairs
from kiro_learn.retrieval.query.prose import is_stop_word
from kiro_learn.retrieval.rendering.passages import word_runs

# Whether a memory that was told was used, as far as what the agent did next shows, and whether the person objects.
#
# Compared are names: files, symbols, words with digits, long words. Those that the prompt has are no sign, and what
# memories that were found and not told have in common with what followed is chance.

MOST_SIGNS = 40
LEAST_USED = 2
"""Signs of a memory that turn up, from which on it may have been used."""

LONG_WORD = 9
"""Letters: a shorter word turns up by chance."""

OBJECTION_CHARACTERS = 300
"""Of a prompt in which an objection is looked for."""

_WORD = re.compile(r"[A-Za-z0-9_][\w./:@-]*\w")
_NAME = re.compile(r"[a-z][A-Z]|[_./:@]|\d")
_OBJECTION = re.compile(
    r"^\W*(?:no|nope|wrong|incorrect|not (?:right|true|correct))\b(?! (?:problem|worries|need|idea|rush|thanks))"
    r"|\b(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:right|true|correct)|outdated|obsolete|old|no longer)\b"
    r"|\b(?:that|this|it) (?:was|has been|got) (?:changed|replaced|removed|renamed|dropped)\b"
    r"|\bwe (?:no longer|changed that|dropped that|don'?t do that)\b|\bnot any ?more\b",
    re.IGNORECASE,
)


def signs_of(record: MemoryRecord, said: str) -> frozenset[str]:
    """The names of ``record`` that would show that it was used; not those that were ``said`` before, in lower case."""
    found_in = _WORD.findall(record.statements)
    names = (word.lower().rstrip(".:-") for word in found_in if _NAME.search(word) or len(word) >= LONG_WORD)
    files = (PurePosixPath(path).name.lower() for path in (*record.files_modified, *record.files_touched))
    found = dict.fromkeys((*files, *names))
    new = [each for each in found if len(each) > 1 and each not in said and not is_stop_word(each)]
    return frozenset(new[:MOST_SIGNS])


def is_used(signs: frozenset[str], others: Sequence[frozenset[str]], followed: str) -> bool:
    """Whether more of ``signs`` turn up in what ``followed`` (in lower case) than of any of ``others``, by share."""
    count = _count(signs, followed)
    if count < LEAST_USED:
        return False
    apart = [each - signs for each in others if each - signs]
    by_chance = max((_count(each, followed) / len(each) for each in apart), default=0.0)
    return count / len(signs) > by_chance


def objects(prompt: str) -> bool:
    """Whether a person says that what was said before is wrong, or does not hold any more."""
    return _OBJECTION.search(prompt[:OBJECTION_CHARACTERS]) is not None


def names_one(signs: Iterable[str], prompt: str) -> bool:
    """Whether ``prompt`` has one of ``signs``."""
    lowered = prompt.lower()
    return any(sign in lowered for sign in signs)


def _count(signs: Iterable[str], followed: str) -> int:
    return sum(sign in followed for sign in signs)


# Which memories hold the words of another one, so that forgetting that one alone leaves what it said.
#
# Two memories of one turn quote the same prompt, and a merged one has the facts of all. What is compared are
# sentences: as a whole where they are short, else every eight words of them that stand together.

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


# Which things hang together because they share something, directly or through others.


def connected(shares: Iterable[Iterable[Hashable]]) -> list[list[int]]:
    """The indices of ``shares`` in groups: two are in the same one if a chain of common elements leads from one to the
    other. Each group in order, and the groups in the order of their first members. ``shares`` are taken one by one.
    """
    first_of: list[int] = []
    owners: dict[Hashable, int] = {}
    for index, elements in enumerate(shares):
        first_of.append(index)
        for element in elements:
            one, other = sorted((_first(first_of, index), _first(first_of, owners.setdefault(element, index))))
            first_of[other] = one
    groups: dict[int, list[int]] = {}
    for index in range(len(first_of)):
        groups.setdefault(_first(first_of, index), []).append(index)
    return list(groups.values())


def _first(first_of: list[int], index: int) -> int:
    """The first member known to be in the same group; shortens the way there for the next call."""
    while first_of[index] != index:
        first_of[index] = first_of[first_of[index]]
        index = first_of[index]
    return index
