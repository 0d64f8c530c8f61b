"""Prompts for which nothing is worth looking up: they agree, thank, greet, urge on, choose, or ask for a commit.

Lists, as in ``vocabulary``: a prompt that has one word that is in none of them asks for something. So what is missing
here costs some bytes, and never an answer.
"""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive import small_talk_words as others
from kiro_learn.learning.extraction.extractive import vocabulary
from kiro_learn.learning.extraction.extractive.chatter import is_commit_request, is_nod
from kiro_learn.retrieval.query.prose_lines import asks

_WORD = re.compile(r"\w[\w.'/-]*")


def _words(text: str) -> list[str]:
    """In lower case; unlike those of ``prose``, Hangul stands as it is written."""
    return [word.rstrip(".'/-") for word in _WORD.findall(text.lower())]


def _set(words: str) -> frozenset[str]:
    return frozenset(_words(words))


_SHORT_FORMS = _set("""
    afternoon appreciated bravo bye care done evening goodbye haha hahaha hehe heya hiya job k kk later lol morning
    nice night np oki okey oops pls plz problem sec there tomorrow ty tysm thx thnx tx wonderful wonderfully yea yess yo
    claude codex copilot cursor gemini kiro
""")
"""English nods and greetings beside those that the learner knows, and the agents that are greeted."""

_URGING = _set("""
    apply as back bad begin by commence create either finish first from help implement it keep last left let's lot move
    moving off on one pick please rest ship start then they these those try up we where with work
""")
"""Words of prompts that urge on without saying what it is about."""

_URGING_ALONE = _set("abort again anyway both cancel carry execute fix forward go next retry stop")
"""The same, said alone as well."""

_NAMED = _set(
    "a above all b c d e first item items last number one ones option options other part phase plan plans "
    "pr second stage step steps suggestion suggestions task tasks that them third thing things two"
)
"""What such a prompt points at. On its own, one of these is a thing to ask for."""

_WITHOUT_SPACES = re.compile(f"(?>{'|'.join(sorted(others.WITHOUT_SPACES.split(), key=len, reverse=True))})+")

_ASKED_ABOUT = _set("""
    about call catch clarification clean clear confusion course feedback fixed fun green hold idea kind mind mistake
    observation point question reminder resume set solid still thing understand understood
""")
"""Nods that name something: a question with one of them is about it."""

_REQUEST = re.compile(r"(?:please |pls )?(?:can|could|would|will) you (?:please |pls |now )?", re.IGNORECASE)
_PULL_REQUEST = re.compile(r"\b(?:pull|merge) request\b", re.IGNORECASE)
_BLANKS = re.compile(r"\W+")
_LONGEST = 120
"""Characters. Who writes more says something."""

_SIMPLE = vocabulary.POLITE | _SHORT_FORMS | _set(others.OTHER_LANGUAGES)
_URGED = _SIMPLE | _URGING | _URGING_ALONE | _NAMED
_LETTER_OR_NUMBER = re.compile(r"[a-e0-9]{1,2}")


def asks_nothing(prompt: str) -> bool:
    """Nothing that is remembered helps with ``prompt``; False for any question, however short."""
    text = _PULL_REQUEST.sub("pr", prompt.replace("\u2019", "'")).strip()
    if len(text) > _LONGEST:
        return is_nod(text) or is_commit_request(text)
    request = _REQUEST.match(text)
    if asks(text) and not request:
        return _SIMPLE_QUESTION.issuperset(_words(text)) and not any(map(str.isdigit, text))
    said = _words(text[request.end() :] if request else text)
    if _SIMPLE.issuperset(said) or is_nod(text) or is_commit_request(" ".join(said)):
        return True
    if _WITHOUT_SPACES.fullmatch(_BLANKS.sub("", text)):
        return True
    is_choice = len(said) > 1 or _LETTER_OR_NUMBER.fullmatch(said[0]) or said[0] in _URGING_ALONE
    return bool(is_choice) and all(word in _URGED or _LETTER_OR_NUMBER.fullmatch(word) for word in said)


_SIMPLE_QUESTION = _SIMPLE - _ASKED_ABOUT
