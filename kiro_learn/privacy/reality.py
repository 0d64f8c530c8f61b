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

CODE = r"[&*]|[\w.:]{1,80}+[(\[{]|[A-Za-z_]\w{0,80}+(?:\.[A-Za-z_]\w{0,80}+){1,8}+(?![^\s,;)}\]])"
"""A call, an index, a literal with a type, or a path of attributes; only outside of quotes."""

QUOTE_CLOSED = r"[\s,;:)\]}+]"
"""Behind a quote that closed a string instead of opening one, as in ``print("password: ", entered)``."""


def placeholder(*, end: str, words_before: str = "") -> str:
    """A pattern for what stands for a value and is none.

    ``end`` matches behind the last character of the value; ``words_before`` matches the words in front of one of its
    words, where it may have several.
    """
    word = f"(?:{_in_any_case(_WORDS)})(?:[.,:;!? \\t]|{end})"
    return (
        r"\[REDACTED"
        r"|<[^>\"'`\n]{0,80}>|\{[^}\"'`\n]{0,80}[}\"'`]"
        rf"|\$\w{{1,80}}+{end}|%(?:[dqrsvw]|\w{{1,80}}+%){end}"
        rf"|[xX]++{end}|\*++{end}|\.++{end}|-++{end}|_++{end}|\u2022++{end}|\u2026++{end}"
        rf"|~/|\.{{1,2}}/|/[\w.@-]{{0,80}}+(?:/|{end})|[A-Za-z]:[\\/]"
        rf"|{_in_any_case(_BEGINNINGS)}|{word}{f'|{words_before}{word}' if words_before else ''}"
        r"|[^\s\"'`$%#{]{0,80}+(?:\$[{(]|[%#][{(]|\{\{)"
    )


def _in_any_case(words: str) -> str:
    """A pattern for any of ``words``, sorted by their first letter, so that most are passed over at once."""
    by_letter: dict[str, list[str]] = {}
    for word in words.split():
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"[{letter}{letter.upper()}](?i:{'|'.join(rests)})" for letter, rests in by_letter.items())
