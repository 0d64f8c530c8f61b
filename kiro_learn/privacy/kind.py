"""What one kind of secret is, and how all of its secrets leave a text."""

from __future__ import annotations

import re
from enum import Enum

import attrs


class Form(Enum):
    """What every secret of a kind looks like. One search tells whether anything in a text does, for all such kinds."""

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
