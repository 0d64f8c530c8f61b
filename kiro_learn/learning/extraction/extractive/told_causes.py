"""The cause of a fault, or its cure, that a person tells: "the cause was: Stripe wants cents as integers"."""

from __future__ import annotations

import re
from itertools import chain, pairwise

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.faults import is_guess
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.retrieval.query.prose import asks

_NODS = (
    r"(?:(?:ok(?:ay)?|thanks?(?: you)?|thx|great|nice|yes|yep|perfect|danke|super|cool|so|btw|fyi|works(?: now)?|solved"
    r"|fixed(?: it| now)?|l\u00e4uft|found it|got it|ah+|it works(?: now)?|never ?mind)\b[\s,.!:-]*+){0,4}"
)
_TOLD_CAUSE = re.compile(
    rf"{_NODS}(?:(?:the |it was the )?(?:actual |real |root )*(?:cause|culprit|reason)"
    r"(?: (?:of|for) \S+(?: \S+){0,4}?)? (?:was|is|turned out)\b(?! (?:unclear|unknown|not))"
    r"|(?<=found it: )\w"
    r"|(?:the|our|my) \S+(?: \S+){0,5}? (?:was|were|is|are) caused by\b"
    r"|(?:it |this )?(?:turns|turned) out\b|(?:it|this|that) (?:was|is) (?:because|caused by)\b"
    r"|(?:die )?ursache (?:war|ist)\b|der grund (?:war|ist)\b|es lag (?:an|daran)\b"
    r"|la cause (?:\u00e9tait|est)\b|la causa (?:era|es)\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence in which a person says what was wrong."""
_CURE = re.compile(
    r"\W*(?:(?:and|so|but|then|ok|fyi|btw)\b[\s,]*)?(\S{2,40}(?: \S{1,40}){0,9}?) "
    r"(?:starts?|fix(?:es|ed)?|solve[sd]?|cure[sd]?"
    r"|clear(?:s|ed)|resets?|rebuil(?:ds|t)|regenerate[sd]|restore[sd]|unblock(?:s|ed)|repair(?:s|ed)"
    r"|gets (?:around|rid of)) (?:it|that|this|them)(?: again)?\W*",
    re.IGNORECASE,
)
_NAMES_COMMAND = re.compile(
    r"`|(?<![\w-])--?\w|\w:\w|\./|/\.|\w/\w{1,40}/|\A(?:run(?:ning)?|us(?:e|ing)|make|npm|pnpm|yarn|git|docker|cargo"
    r"|go|bundle|rake|brew|pip|uv|poetry|mvn"
    r"|gradle|kubectl|terraform|just|dotnet|mix)\b",
    re.IGNORECASE,
)
_LEAST_WORDS_TOLD, _MOST_CHARACTERS_TOLD = 4, 400


def cause_told_in(prompt: str) -> str:
    """The sentence of ``prompt`` in which its author gives the cause of something, or the fault and its cure; or the
    empty text.

    A long prompt says more than that, so it gives none.
    """
    if len(prompt) > _MOST_CHARACTERS_TOLD:
        return ""
    said = own_sentences(prompt)
    cured = (f"{fault} {cure}" for fault, cure in pairwise(said) if _is_cure(cure) and not asks(fault))
    return next(chain(filter(_tells_cause, said), cured), "")


def _is_cure(sentence: str) -> bool:
    """Whether ``sentence`` names a command that mends the fault before it: "docker compose up -d db starts it"."""
    found = _CURE.fullmatch(sentence)
    return found is not None and _NAMES_COMMAND.search(found[1]) is not None


def _tells_cause(sentence: str) -> bool:
    is_told = _TOLD_CAUSE.match(sentence) is not None and not asks(sentence) and not is_guess(sentence)
    return is_told and len(own_words(sentence)) >= _LEAST_WORDS_TOLD
