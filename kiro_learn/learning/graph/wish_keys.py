"""What tells one wish from another: the first words that say what it is about."""

from __future__ import annotations

import re

from kiro_learn.model.graph import MAX_NAME

KEY_WORDS = 6
"""Of a wish that tell it from others."""
_NO_KEY_WORDS = """
    a an the our my your we you i this that these on of for with in to from now all any every when before after be is
    and or but also always never ever should must please ok note remember project repo codebase use used using
    prefer
"""
_NO_KEY = frozenset(_NO_KEY_WORDS.split())
_WORD = re.compile(r"[^\W_][\w.'#+/-]*")


def key_of(text: str) -> str:
    """The first words of a wish that tell what it is about; empty where it has none."""
    return " ".join([word for word in map(str.lower, words_of(text)) if word not in _NO_KEY][:KEY_WORDS])[:MAX_NAME]


def words_of(text: str) -> list[str]:
    """The words of ``text``, with the signs that names are written with."""
    return [word.rstrip(".'") for word in _WORD.findall(text)]
