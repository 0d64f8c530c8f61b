"""Whether a text is English: by the words of its prose that carry grammar, and not by one of them.

Names, code and paths are no words of any language: ``main.go`` holds no article.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiro_learn.learning.extraction.extractive import vocabulary
from kiro_learn.learning.extraction.extractive.vocabulary import words
from kiro_learn.retrieval.query.prose import OTHER_GRAMMAR, is_stop_word

_NO_PROSE = re.compile(r"`[^`\n]{1,400}`|(?<![A-Za-z0-9_~@-])[A-Za-z0-9_~@-]++(?:[./\\@#:=+]++[A-Za-z0-9_~@-]++)++")
"""Code, addresses, paths and dotted names."""

_SHARED = frozenset(words("a all am an as at do has he i in is me no on so was will"))
"""English words that other languages have too: alone, they say nothing about a text."""

_OF_OTHERS = frozenset(
    words(
        "als así cuando cuya del denn dessen die di e et già ha hij i il io la lo ma mas mi ne né nu ob och og ou pero"
        " più quindi seine seinem sich si sin sowie tot und usa uso va vor ya y yo zwar"
    )
)
"""Small words beside those that lines of prose are told by."""

_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f\u1e00-\u1eff]")
_LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f\u1e00-\u1eff]")
_OF_WORK = vocabulary.STATUS | vocabulary.COMMITTING | vocabulary.COMMIT_TALK
"""English that stands without grammar in the notes of agents: "3 files changed"."""


def is_english(texts: Iterable[str]) -> bool:
    """Whether there is English in ``texts``, and no more grammar of other languages in them than of English."""
    prose = _NO_PROSE.sub(" ", "\n".join(texts))
    if len(_OTHER_SCRIPT.findall(prose)) > len(_LATIN.findall(prose)):
        return False
    said = words(prose)
    english = [word for word in said if word not in OTHER_GRAMMAR and (is_stop_word(word) or word in _OF_WORK)]
    return bool(english) and sum(word not in _SHARED for word in english) >= sum(map(_is_of_others, said))


def is_foreign(text: str) -> bool:
    """Whether ``text`` is in another language than English; words without any grammar may be of each."""
    prose = _NO_PROSE.sub(" ", text)
    has_others = _OTHER_SCRIPT.search(prose) is not None or any(map(_is_of_others, words(prose)))
    return has_others and not is_english([text])


def _is_of_others(word: str) -> bool:
    if is_stop_word(word) and word not in OTHER_GRAMMAR:
        return False
    return word in OTHER_GRAMMAR or word in _OF_OTHERS or any(c > "\u00bf" and c.isalpha() for c in word)
