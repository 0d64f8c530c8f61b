"""One kind of secret: how it is found in a text and replaced."""

from __future__ import annotations

import re
from enum import Enum

import attrs

_COLOURS = tuple(rf"[;\[]{digits}m" for digits in ("", r"\d", r"\d\d", r"\d\d\d"))
"""Ends of terminal escape sequences, with what stands before the last number: digits alone may be in any token."""
_NO_PART_OF_A_WORD = (r"\\[nrt]", *_COLOURS, r"\\u00[0-9a-f]{2}", "%[0-9A-Fa-f]{2}", r"\A-", r"\n-", r"\\n-")
r"""What ends in a letter, a digit or a hyphen and begins no word: a line end spelled ``\n``, a terminal's colour, a
character escaped in JSON or in a URL, and a line that a diff takes away. Each holds a character that no token has, so
that no token has a second beginning inside."""


def beginning_a_word(literal: str) -> str:
    """A pattern for ``literal`` where no word is under way. It begins with the literal, so that the search is fast."""
    escaped = re.escape(literal)
    return rf"{escaped}(?:(?<![\w-]{escaped})|{behind_no_word(escaped)})"


def behind_no_word(pattern: str = "") -> str:
    """Matches behind ``pattern``, of a fixed length, where what stands before that only looks like a part of a word."""
    return "|".join(f"(?<={before}{pattern})" for before in _NO_PART_OF_A_WORD)


class Form(Enum):
    """The coarse form that every secret of a kind has.

    One search tells whether anything in a text does, for all such kinds.
    """

    ANY = "any"
    LONG_RUN = "long run"
    """Somewhere in it, 20 of ``a-z0-9_-`` stand side by side, in any case."""
    HEXADECIMAL_RUN = "hexadecimal run"
    """Somewhere in it, 32 hexadecimal digits stand side by side."""
    PREFIXED = "prefixed"
    """Each trigger ends with one of ``_-.`` and is followed at once by 16 letters or digits."""


@attrs.frozen
class Kind:
    """One kind of secret: how it is found, and where its form is written down."""

    name: str
    triggers: tuple[str, ...]
    """In lower case; a text without any of them has no secret of this kind."""
    pattern: re.Pattern[str]
    """Exactly one group: what stays readable before the secret. The rest of the match is the secret."""
    documented: str
    form: Form = Form.ANY

    def redact(self, text: str) -> str:
        """``text`` with every secret of this kind replaced by ``[REDACTED:name]``."""
        pieces = self.pattern.split(text)  # kept, key, kept, key, ..., kept: the secrets fall between
        mark = f"[REDACTED:{self.name}]"
        pieces[1::2] = [key + mark for key in pieces[1::2]]
        return "".join(pieces)
