"""One kind of secret: how it is found in a text and replaced, and what tells a real value from a placeholder.

The latter are fragments of patterns, each for a lookahead at the first character of a value. None of them reads on
without a bound: a value may begin on every tenth character of a body, and each would read all the rest.
"""

from __future__ import annotations

import re
from enum import Enum

import attrs


def folded(text: str) -> str:
    """``text`` in lower case, every character where it was.

    U+0130 is the only character whose lower case is longer than itself.
    """
    return text.replace("\u0130", "I").lower()


_WORDS = """
    a an the is are be to for of in at or and not your my new old please must should enter field this forgot reset
    required optional invalid incorrect wrong missing empty unset hidden none null nil true false yes no undefined
    string str text bool boolean any unknown password passwd passphrase pwd pass secret token key value todo tbd
    redacted user username
"""
"""What labels and messages about passwords are made of; a passphrase of dice words has none of them."""

_BEGINNINGS = r"""
    process\.env os\.environ os\.getenv import\.meta env\. secrets\. vars\. op:// vault: arn: file: http:// https://
    enc\[ your[-_\x20] change[-_\x20]?me change[-_\x20]?this replace[-_\x20] insert[-_\x20] example placeholder dummy
"""
"""How references to the place where a secret is begin, and templates for one."""

_NAME = r"[A-Za-z_]{1,80}+"
CALL = (
    rf"&|\([^\s0-9]{{0,80}}(?:\s|\Z)|{_NAME}(?:\.{_NAME}){{1,8}}+(?![^\s,;)}}\]\\\"'`])"
    rf"|{_NAME}(?:\.{_NAME}){{0,8}}+(?:\((?:[\"')]|[^()\s]{{0,80}}\)(?!\w))|\[(?:[\"']|\w{{1,40}}\]))"
)
"""What is code even behind ``NAME=``: a call or an index that is closed, or a path, of names without digits."""

_ATTRIBUTE = r"(?!(?=\w{0,80}[A-Z])\w{0,80}\d[a-z])[A-Za-z_]\w{0,80}+"
"""A name as in code (``v1beta1``, ``S3Client``): with a digit before a small letter it has no capital (``Hq7xa``)."""
CODE = rf"[&*]|[\w.:]{{1,80}}+[(\[{{]|{_ATTRIBUTE}(?:\.{_ATTRIBUTE}){{1,8}}+(?![^\s,;)}}\]])"
"""A call, an index, a literal with a type, or a path of attributes; only outside of quotes."""

QUOTE_CLOSED = r"[\s,;:)\]}+]"
"""Behind a quote that closed a string instead of opening one, as in ``print("password: ", entered)``."""


_TEMPLATE = r"\{(?:[^}\"'`\n0-9]{0,80}\}|\d{1,2}\}|[{%\s]|[A-Za-z_]\w{0,80}+[.\[(!:])"
"""A name in braces, or an expression. What has a digit and no point is the beginning of a value."""
_PATH = r"/[A-Za-z]?[a-z._@-]{{0,80}}+(?:\d{{0,2}}/|{end})"
"""Its first folder is in lower case, but for its first letter, and has two digits at its end at most."""


def placeholder(*, end: str, words_before: str = "") -> str:
    """A pattern for what stands for a value and is none.

    ``end`` matches behind the last character of the value; ``words_before`` matches the words in front of one of its
    words, where it may have several.
    """
    word = f"(?:{_in_any_case(_WORDS)})(?:[.,:;!? \\t]|{end})"
    return (
        r"\[REDACTED"
        rf"|<[^>\"'`\n]{{0,80}}>|{_TEMPLATE}"
        rf"|\$\w{{1,80}}+{end}|%(?:[dqrsvw]|\w{{1,80}}+%){end}"
        rf"|[xX]++{end}|\*++{end}|\.++{end}|-++{end}|_++{end}|\u2022++{end}|\u2026++{end}"
        rf"|~/|\.{{1,2}}/|{_PATH.format(end=end)}|[A-Za-z]:[\\/]"
        rf"|{_in_any_case(_BEGINNINGS)}|{word}{f'|{words_before}{word}' if words_before else ''}"
        r"|[^\s\"'`$%#{]{0,80}+(?:\$[{(]|[%#][{(]|\{\{)"
    )


def _in_any_case(words: str) -> str:
    """A pattern for any of ``words``, sorted by their first letter, so that most are passed over at once."""
    by_letter: dict[str, list[str]] = {}
    for word in words.split():
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"[{letter}{letter.upper()}](?i:{'|'.join(rests)})" for letter, rests in by_letter.items())


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
    needs: tuple[str, ...] = ()
    """In lower case; if there are any, a text must hold one as well. Looked for only where a trigger was found."""
    within: re.Pattern[str] | None = None
    """If what ``pattern`` finds holds several secrets, and other things: each secret in it, by the same rule."""

    def redact(self, text: str) -> str:
        """``text`` with every secret of this kind replaced by ``[REDACTED:name]``."""
        mark = f"[REDACTED:{self.name}]"
        if (within := self.within) is not None:
            return self.pattern.sub(
                lambda found: found[1] + within.sub(rf"\g<1>{mark}", found[0][len(found[1]) :]), text
            )
        pieces = self.pattern.split(text)  # kept, key, kept, key, ..., kept: the secrets fall between
        pieces[1::2] = [key + mark for key in pieces[1::2]]
        return "".join(pieces)
