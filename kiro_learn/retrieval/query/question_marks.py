"""Whether a text ends as a question does, in any script."""

from __future__ import annotations

_MARKS = ("?", "\uff1f", "\u061f", "\u037e", "\u2047", "\u2048", "\u2049", "\u203d")
"""Latin, full-width, Arabic, Greek, and doubled ones."""

_BEHIND = " \t!.)]\"'*_\uff01\u3002\u300d\u00bb\u201d"
"""What may stand behind the mark: closing quotation marks and parentheses, emphasis."""


def asks(text: str) -> bool:
    """``text`` ends with a question mark."""
    return text.rstrip().rstrip(_BEHIND).endswith(_MARKS)
