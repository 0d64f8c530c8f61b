"""Texts compared by their words alone, however these are set in type."""

from __future__ import annotations

import re

_LIST_MARK = re.compile(r"^[^\S\n]*+[-*\u2022]\s++", re.MULTILINE)
_MARKS_BEFORE = re.compile(r"\A(?:\*\*|`)++")
_MARKS_BEHIND = re.compile(r"\A(?:\*\*|[`.,;:])++")


def bare_words(text: str) -> tuple[str, ...]:
    """The words of ``text`` in order, without marks of a list or of emphasis, and without capitals at their start."""
    words = map(_bare, _LIST_MARK.sub("", text).split())
    return tuple(word.lower() if word.istitle() else word for word in words if word)


def _bare(word: str) -> str:
    backwards = _MARKS_BEFORE.sub("", word)[::-1]
    return _MARKS_BEHIND.sub("", backwards)[::-1]
