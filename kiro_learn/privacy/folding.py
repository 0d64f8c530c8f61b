"""Lower case for looking things up, position by position."""

from __future__ import annotations


def folded(text: str) -> str:
    """``text`` in lower case, every character where it was.

    U+0130 is the only character whose lower case is longer than itself.
    """
    return text.replace("\u0130", "I").lower()
