"""Sentences in which a person chooses something and says why."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.durable import choice_in
from kiro_learn.learning.extraction.extractive.own_sentences import own_parts, own_sentences, tidy
from kiro_learn.learning.extraction.extractive.rule_words import complains, is_of_the_moment
from kiro_learn.learning.extraction.extractive.vocabulary import sentences
from kiro_learn.retrieval.query.prose import asks

_WHY = re.compile(
    r"\b(?:because|since (?!\d|yesterday|last|then|the (?:last|update))|due to|so that|otherwise|the reason|too \w+"
    r"|turned out|instead of|rather than|weil|statt|parce que|au lieu de|porque|en vez de|em vez de)\b"
    r"|から|ので|ため|理由|ではなく|因为"
    r"|, so (?:we|it|that|the)\b",
    re.IGNORECASE,
)
"""Why something was chosen, or over what."""
_WHY_BEHIND = re.compile(r"^.{12,}\w(?:: [^\W_]|, (?:it|our|the|they|we) \w)[^:@]{8,}")
"""A colon, or a comma, and a clause behind it."""
_DONT = re.compile(r"(?:please )?(?:do not|don't)\b", re.IGNORECASE)


_PUTS_OFF = re.compile(r"\bdecided to (?:wait|stop|pause|postpone|skip|try)\b|\bthe \w+ one\b", re.IGNORECASE)


def reasoned_choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides and says why, in it or in the next one; or the empty text."""
    said = own_sentences(prompt)
    if own_parts(prompt) != [prompt] or any(map(asks, said)):
        return ""
    return _by_its_opening(prompt)


def _by_its_opening(prompt: str) -> str:
    chosen = choice_in(prompt)
    said = [tidy(sentence) for sentence in sentences(prompt)] if chosen else []
    if chosen not in said or any(map(asks, said)) or complains(chosen) or _PUTS_OFF.search(chosen):
        return ""
    if _DONT.match(chosen) and is_of_the_moment(chosen):
        return ""
    if _WHY.search(chosen) or _WHY_BEHIND.search(chosen):
        return chosen
    told = " ".join(said[said.index(chosen) :][:2])
    return told if _WHY.search(told) else ""
