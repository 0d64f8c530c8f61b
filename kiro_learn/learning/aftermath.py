"""Whether a told memory was used, which memories repeat its words, and which things are connected."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.wording import in_pairs
from kiro_learn.retrieval.query.prose import is_stop_word
from kiro_learn.retrieval.rendering.passages import word_runs

# Whether an agent used a told memory, as far as its next steps show, and whether the person objects to it.
#
# The names of a memory are compared with what follows: files, symbols, words with digits, long words. A name that the
# prompt already has is no sign of use. Names of memories that were found but not told turn up by chance, so they show
# how much chance explains.

MOST_SIGNS = 40
LEAST_USED = 2
"""How many signs of a memory must turn up before it may count as used."""

LONG_WORD = 9
"""The fewest letters of a long word. A shorter word turns up by chance."""

OBJECTION_CHARACTERS = 300
"""How many characters of a prompt are searched for an objection."""

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
    """The names in ``record`` that would show its use, without those that ``said`` (in lower case) already has."""
    found_in = _WORD.findall(record.statements)
    names = (word.lower().rstrip(".:-") for word in found_in if _NAME.search(word) or len(word) >= LONG_WORD)
    files = (PurePosixPath(path).name.lower() for path in (*record.files_modified, *record.files_touched))
    found = dict.fromkeys((*files, *names))
    new = [each for each in found if len(each) > 1 and each not in said and not is_stop_word(each)]
    return frozenset(new[:MOST_SIGNS])


def is_used(signs: frozenset[str], others: Sequence[frozenset[str]], followed: str) -> bool:
    """Whether a larger share of ``signs`` than of any of ``others`` turns up in ``followed`` (in lower case)."""
    count = _count(signs, followed)
    if count < LEAST_USED:
        return False
    apart = [each - signs for each in others if each - signs]
    by_chance = max((_count(each, followed) / len(each) for each in apart), default=0.0)
    return count / len(signs) > by_chance


def objects(prompt: str) -> bool:
    """Whether a person says that something said before is wrong or no longer holds."""
    return _OBJECTION.search(prompt[:OBJECTION_CHARACTERS]) is not None


def names_one(signs: Iterable[str], prompt: str) -> bool:
    """Whether ``prompt`` has one of ``signs``."""
    lowered = prompt.lower()
    return any(sign in lowered for sign in signs)


def _count(signs: Iterable[str], followed: str) -> int:
    return sum(sign in followed for sign in signs)


# Which memories repeat the words of another one. Forgetting that one alone leaves its words in them.
#
# Two memories of one turn quote the same prompt, and a merged memory has the facts of all its sources. Sentences are
# compared: a short one as a whole, a longer one by each run of eight words.

LEAST_WORDS = 4
"""The fewest words of a sentence that is compared. Fewer words stand together in many memories by chance."""
MOST_WORDS = 8
"""How many words are compared at once. Half of a long sentence counts as a quotation too."""
LEAST_TELLING = 3
"""How many distinct words of a run must carry more than grammar."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")


def passages_of(record: MemoryRecord) -> tuple[str, ...]:
    """The sentences of ``record`` that are long enough to be recognised, each once."""
    found = (text for field in _texts(record) for text in _ENDS.split(field))
    return tuple(dict.fromkeys(text for text in found if any(_telling_runs(_words(text)))))


def holding_words_of(forgotten: MemoryRecord, others: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    """Those of ``others`` that hold a sentence of ``forgotten``: first those from its events, then the newest first."""
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
    """The runs of words by which a sentence is recognised: all of it, or each run of MOST_WORDS."""
    if len(words) < LEAST_WORDS:
        return
    for run in _runs(words, {min(len(words), MOST_WORDS)}):
        if len({word for word in run if not is_stop_word(word)}) >= LEAST_TELLING:
            yield run


def _runs(words: Sequence[str], lengths: Iterable[int]) -> Iterator[tuple[str, ...]]:
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield tuple(words[start : start + length])


# Groups of things that share something, directly or through others.


def connected(shares: Iterable[Iterable[Hashable]]) -> list[list[int]]:
    """The indices of ``shares`` in groups: a chain of common elements connects any two of a group.

    Each group is in order, and the groups are in the order of their first members. ``shares`` are read one by one.
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
    """The first known member of the group of ``index``. The call also shortens the path for the next one."""
    while first_of[index] != index:
        first_of[index] = first_of[first_of[index]]
        index = first_of[index]
    return index
