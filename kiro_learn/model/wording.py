"""Comparing and looking up texts by their words, whatever their marks, capitals and script.

Also the words that deny something, and the names of tools of which a project mostly uses only one.

Han, kana and Hangul: each run of these characters is indexed as its overlapping pairs, and has a length in letters.
These scripts write words without spaces between them, or with endings. So a run is mostly a whole clause, and no later
question has the same one. Search engines index overlapping pairs instead (McNamee & Mayfield, Character N-Gram
Tokenization, 2004), which find every word of two characters or more inside of any clause. Text of another script next
to a run is a word of its own.
"""

from __future__ import annotations

import re

_NEGATION = re.compile(
    r".*(?:n't|n\u2019t)$|(?:no|not|none|never|nothing|without|cannot|dont|nor|neither)$", re.IGNORECASE
)
_LIST_MARK = re.compile(r"^[^\S\n]*+[-*\u2022]\s++", re.MULTILINE)
_MARKS_BEFORE = re.compile(r"\A(?:\*\*|`)++")
_MARKS_BEHIND = re.compile(r"\A(?:\*\*|[`.,;:])++")


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as one paragraph."""
    return frozenset(words.split())


def bare_words(text: str) -> tuple[str, ...]:
    """The words of ``text`` in order, without list marks, emphasis and final punctuation; a capital at a word's start
    is lowered.
    """
    words = map(_bare, _LIST_MARK.sub("", text).split())
    return tuple(word.lower() if word.istitle() else word for word in words if word)


def is_negation(word: str) -> bool:
    """Whether ``word`` is a negation; its case and the punctuation at its ends are ignored."""
    return _NEGATION.match(word.strip("*`\"'()[].,;:!?")) is not None


def has_negation(text: str) -> bool:
    """Whether a word of ``text`` is a negation."""
    return any(map(is_negation, text.split()))


_DENYING = frozenset({"avoid", "stop"})


def denies_on_balance(text: str) -> bool:
    """Whether ``text`` denies something on balance: negations that cancel each other out do not, nor does "No, …"."""
    words = (word for word in text.lower().split() if not word.endswith(","))
    return sum(map(denies_what_follows, words)) % 2 == 1


def denies_what_follows(word: str) -> bool:
    """Whether ``word``, in lower case, is a negation or a verb that says to leave something alone."""
    return is_negation(word) or word in _DENYING


def _bare(word: str) -> str:
    backwards = _MARKS_BEFORE.sub("", word)[::-1]
    return _MARKS_BEHIND.sub("", backwards)[::-1]


_RUN = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)


def in_pairs(text: str) -> str:
    """``text`` with each run of these scripts as its pairs, with spaces around them; a single character stays.

    A text without such a run is unchanged, and so is a text that was changed before.
    """
    return text if text.isascii() else _RUN.sub(_pairs, text)


def letters(text: str) -> int:
    """The length of ``text`` in letters: a character of these scripts says about as much as three letters."""
    if text.isascii():
        return len(text)
    return len(text) + 2 * sum(len(run.group()) for run in _RUN.finditer(text))


def _pairs(run: re.Match[str]) -> str:
    characters = run.group()
    pairs = (characters[start : start + 2] for start in range(max(1, len(characters) - 1)))
    return f" {' '.join(pairs)} "


# Rival tools and styles, of which a project mostly uses only one.

_GROUPS = (
    ("npm", "pnpm", "yarn", "bun"),
    ("pip", "uv", "poetry", "pipenv", "conda", "pdm"),
    ("jest", "vitest", "mocha"),
    ("pytest", "unittest"),
    ("eslint", "biome", "oxlint"),
    ("flake8", "pylint", "ruff"),
    ("black", "yapf"),
    ("webpack", "vite", "rollup", "esbuild", "parcel"),
    ("tabs", "spaces"),
    ("squash", "rebase"),
    ("docker", "podman"),
    ("postgres", "postgresql", "mysql", "sqlite", "mariadb"),
)
RIVALS = {name: group for group, names in enumerate(_GROUPS) for name in names}
"""The number of the group of each rival."""

_DOES_BOTH = {"black": frozenset({"ruff"}), "yapf": frozenset({"ruff"})}
"""Tools of other groups that may also take a tool's place."""


def rivals_of(name: str) -> frozenset[str]:
    """What may be used instead of ``name``; empty if that is not known."""
    group = frozenset(_GROUPS[RIVALS[name]]) if name in RIVALS else frozenset[str]()
    return (group | _DOES_BOTH.get(name, frozenset())) - {name}
