"""Whether a memory that was told was used, as far as what the agent did next shows, and whether the person objects.

Compared are names: files, symbols, words with digits, long words. Those that the prompt has are no sign, and what
memories that were found and not told have in common with what followed is chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.query.stop_words import is_stop_word

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
    text = "\n".join((record.title, record.summary, *record.facts))
    names = (word.lower().rstrip(".:-") for word in _WORD.findall(text) if _NAME.search(word) or len(word) >= LONG_WORD)
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
