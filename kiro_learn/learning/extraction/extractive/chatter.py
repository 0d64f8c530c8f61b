"""Sentences that are not worth remembering: politeness, status, announcements, offers."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive import vocabulary
from kiro_learn.learning.extraction.extractive.prose import sentences, words

_NUMBER_OR_HASH = re.compile(r"[0-9a-f]{7,40}|v?[0-9][0-9.,%x/]*")
_ADDRESS = re.compile(r"https?://\S++")
"""Where a commit or a pull request is to be seen."""

_MARKS = "*_#> \u2705\u2713\u2714\U0001f389"
_COMMIT_WORDS = vocabulary.COMMITTING | vocabulary.COMMIT_TALK | vocabulary.POLITE | vocabulary.STATUS
_TALK = vocabulary.POLITE | vocabulary.STATUS
_EMPTY = _TALK | vocabulary.EMPTY
_COMMIT_SOON = 4
"""How many of its first words show that a sentence is about a commit."""

_FAILED = re.compile(
    r"api error(?::? (?:\d{3}\b|connection\b|request (?:was|timed)\b|overloaded\b|unable\b|\{)| \(|[.:]?$)"
    rf"|(?:{'|'.join(map(re.escape, vocabulary.FAILED_ANSWERS))})"
    r"(?:[.!\u2026]{0,3}$| ?[|\u00b7\u2219\u2022]|[.,:;]? (?:please|resets|retry|retrying|run /|try|wait|your)\b)"
)

_LONGEST = 220
"""Characters. A longer sentence says something, however it begins."""


def is_chatter(sentence: str) -> bool:
    """Whether the sentence says nothing lasting."""
    if len(sentence) > _LONGEST:
        return False
    bare = _straight(sentence).strip(_MARKS).lower()
    if bare.startswith(vocabulary.OFFERING) or (bare.startswith(vocabulary.ANNOUNCING) and "`" not in bare):
        return True
    if bare.startswith(vocabulary.INTRODUCING) and bare.endswith(":"):
        return True
    return _only(words(bare), _TALK) or _is_commit_talk(words(_ADDRESS.sub(" ", bare)))


def without_chatter(text: str) -> str:
    """``text`` without the sentences that are chatter."""
    return " ".join(sentence for sentence in sentences(text) if not is_chatter(sentence))


def own_words(text: str) -> list[str]:
    """The words of ``text`` that say something: no nod, no status, no number, none that every text has."""
    return [word for word in words(_straight(text)) if word not in _EMPTY and not _NUMBER_OR_HASH.fullmatch(word)]


def is_nod(prompt: str) -> bool:
    """It only agrees, thanks, greets or urges on."""
    return _only(words(_straight(prompt)), vocabulary.POLITE)


def is_commit_request(prompt: str) -> bool:
    """It only asks to commit, push or open a pull request."""
    return _is_commit_talk(words(_straight(prompt)))


def is_failed_answer(answer: str) -> bool:
    """Whether an answer is only the agent's report of its own failure."""
    return _FAILED.match(_straight(answer).strip().lower()) is not None


def _is_commit_talk(said: list[str]) -> bool:
    return not vocabulary.COMMITTING.isdisjoint(said[:_COMMIT_SOON]) and _only(said, _COMMIT_WORDS)


def _only(said: list[str], known: frozenset[str]) -> bool:
    return all(word in known or _NUMBER_OR_HASH.fullmatch(word) for word in said)


def _straight(text: str) -> str:
    """With the apostrophe that keyboards have."""
    return text.replace("\u2019", "'")
