"""The sentence in which a person chooses something for the project, rejects it, or tells what is used instead."""

from __future__ import annotations

from kiro_learn.learning.extraction.extractive.durable import may_last
from kiro_learn.learning.extraction.extractive.own_sentences import own_parts, own_sentences, unquoted
from kiro_learn.learning.extraction.extractive.sentence_classes import odds_of

_MOST_CHARACTERS = 600
"""Of a prompt that chooses: a longer one tells what to do."""
_FIRST_SENTENCES = 3


def chosen_in(prompt: str) -> str:
    """The first sentence of ``prompt`` that chooses for the project, or the empty text."""
    if len(prompt) > _MOST_CHARACTERS or own_parts(prompt) != [prompt]:
        return ""
    first = own_sentences(prompt)[:_FIRST_SENTENCES]
    return next((each for each in first if may_last(each) and odds_of(unquoted(each)).is_choice), "")
