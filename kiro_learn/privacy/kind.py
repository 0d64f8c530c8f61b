"""One kind of secret: how it is found in a text and replaced, and the patterns of placeholders for a value.

The patterns of placeholders are fragments, each for a lookahead at the first character of a value. Each of them reads a
bounded number of characters: a value may begin at every tenth character of a body, and each one would otherwise read
all the rest.
"""

from __future__ import annotations

import re
from enum import Enum

import attrs


def folded(text: str) -> str:
    """``text`` in lower case, with every character at its old position.

    U+0130 is the only character whose lower case is longer than itself.
    """
    return text.replace("\u0130", "I").lower()


_WORDS = """
    a an the is are be to for of in at or and not your my new old please must should enter field this forgot reset
    required optional invalid incorrect wrong missing empty unset hidden none null nil true false yes no undefined
    string str text bool boolean any unknown password passwd passphrase pwd pass secret token key value todo tbd
    redacted user username
"""
"""Words in labels and messages about passwords; none of them is in a passphrase of dice words."""

_BEGINNINGS = r"""
    process\.env os\.environ os\.getenv import\.meta env\. secrets\. vars\. op:// vault: arn: file: http:// https://
    enc\[ your[-_\x20] change[-_\x20]?me change[-_\x20]?this replace[-_\x20] insert[-_\x20] example placeholder dummy
"""
"""Beginnings of references to a secret's place, and of templates for a secret."""

_NAME = r"[A-Za-z_]{1,80}+"
CALL = (
    rf"&|\([^\s0-9]{{0,80}}(?:\s|\Z)|{_NAME}(?:\.{_NAME}){{1,8}}+(?![^\s,;)}}\]\\\"'`])"
    rf"|{_NAME}(?:\.{_NAME}){{0,8}}+(?:\((?:[\"')]|[^()\s]{{0,80}}\)(?!\w))|\[(?:[\"']|\w{{1,40}}\]))"
)
"""Code even after ``NAME=``: a closed call or index, or a path of names without digits."""

_ATTRIBUTE = r"(?!(?=\w{0,80}[A-Z])\w{0,80}\d[a-z])[A-Za-z_]\w{0,80}+"
"""A name as in code (``v1beta1``, ``S3Client``); not ``Hq7xa``, with a capital and a digit before a small letter."""
CODE = rf"[&*]|[\w.:]{{1,80}}+[(\[{{]|{_ATTRIBUTE}(?:\.{_ATTRIBUTE}){{1,8}}+(?![^\s,;)}}\]])"
"""A call, an index, a literal with a type, or a path of attributes; only used outside of quotes."""

QUOTE_CLOSED = r"[\s,;:)\]}+]"
"""Characters after a quote that closed a string instead of opening one, as in ``print("password: ", entered)``."""


_TEMPLATE = r"\{(?:[^}\"'`\n0-9]{0,80}\}|\d{1,2}\}|[{%\s]|[A-Za-z_]\w{0,80}+[.\[(!:])"
"""A name in braces, or an expression. A text with a digit and without a point is the beginning of a value."""
_PATH = r"/[A-Za-z]?[a-z._@-]{{0,80}}+(?:\d{{0,2}}/|{end})"
"""A path whose first folder is in lower case, except for its first letter, and has at most two digits, at its end."""


def placeholder(*, end: str, words_before: str = "") -> str:
    """A pattern for a placeholder: a text in the place of a value that is none.

    ``end`` matches after the last character of the value; ``words_before`` matches the words before one of its words,
    if it may have several.
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
    """A pattern for any of ``words``, grouped by their first letter, so that most are excluded at once."""
    by_letter: dict[str, list[str]] = {}
    for word in words.split():
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"[{letter}{letter.upper()}](?i:{'|'.join(rests)})" for letter, rests in by_letter.items())


_COLOURS = tuple(rf"[;\[]{digits}m" for digits in ("", r"\d", r"\d\d", r"\d\d\d"))
"""Ends of terminal escape sequences, each with a character before the last number, since any token may hold digits
alone."""
_NO_PART_OF_A_WORD = (r"\\[nrt]", *_COLOURS, r"\\u00[0-9a-f]{2}", "%[0-9A-Fa-f]{2}", r"\A-", r"\n-", r"\\n-")
r"""Ends in a letter, a digit or a hyphen after which a word may begin: a line end spelled ``\n``, a terminal's colour,
a character escaped in JSON or in a URL, and the hyphen of a removed line in a diff. Each holds a character that no
token has, so that no token has a second beginning inside."""


def beginning_a_word(literal: str) -> str:
    """A pattern for ``literal`` at the beginning of a word. It begins with the literal, so that the search is fast."""
    escaped = re.escape(literal)
    return rf"{escaped}(?:(?<![\w-]{escaped})|{behind_no_word(escaped)})"


def behind_no_word(pattern: str = "") -> str:
    """Matches after ``pattern``, of a fixed length, if the text before it only looks like a part of a word."""
    return "|".join(f"(?<={before}{pattern})" for before in _NO_PART_OF_A_WORD)


class Form(Enum):
    """A coarse form that all secrets of a kind have.

    One search decides for all kinds of a form whether a text holds anything of that form.
    """

    ANY = "any"
    LONG_RUN = "long run"
    """A part of it is a run of 20 characters of ``a-z0-9_-``, in any case."""
    HEXADECIMAL_RUN = "hexadecimal run"
    """A part of it is a run of 32 hexadecimal digits."""
    PREFIXED = "prefixed"
    """Each trigger ends with one of ``_-.`` and is followed at once by 16 letters or digits."""


@attrs.frozen
class Kind:
    """One kind of secret: how it is found, and where its form is written down."""

    name: str
    triggers: tuple[str, ...]
    """In lower case; a text without any of them has no secret of this kind."""
    pattern: re.Pattern[str]
    """Has exactly one group: the text before the secret, which stays readable. The rest of the match is the secret."""
    documented: str
    form: Form = Form.ANY
    needs: tuple[str, ...] = ()
    """In lower case; if there are any, a text must also hold one of them. They are looked for only if a trigger was
    found."""
    within: re.Pattern[str] | None = None
    """If a match of ``pattern`` holds several secrets among other things: a pattern for each secret in it, by the same
    rule."""

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
