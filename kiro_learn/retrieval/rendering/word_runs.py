r"""A text cut into its words: runs of letters, digits and underscores, as ``\w+`` of ``re`` finds them."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_ASCII = "".join(character if _WORD.match(character) else " " for character in map(chr, range(128)))
"""Of each ASCII character, itself if it may be in a word, else a blank."""


def word_runs(text: str) -> list[str]:
    """The words of ``text``, in order; where all is ASCII, in half the time that the expression takes."""
    return text.translate(_ASCII).split() if text.isascii() else _WORD.findall(text)
