"""Tells a real value from a placeholder.

Fragments of patterns, each for a lookahead at the first character of a value. None of them reads on without a bound:
a value may begin on every tenth character of a body, and each would read all the rest.
"""

from __future__ import annotations

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
