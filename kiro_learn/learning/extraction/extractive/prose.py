"""Sentences and words: where a text may be cut, and what it says beside how it says it."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')\]*`]{0,3}\s+(?=[\"'(\[`*]{0,3}[A-Z0-9\u2010-\uffff/~-])|(?<=[\u3002\uff01\uff1f])|\n+"
)
_ABBREVIATION = re.compile(r"(?:\b(?i:e\.g|i\.e|vs|etc|cf|approx|incl|resp|no|fig|st|mr|dr)|\b[A-Z]|^\d{1,3})\.$")
_LONGEST_ABBREVIATION = 10
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,2}|\w[\w.'/-]*")
"""Scripts without spaces count by pairs of characters."""

_MARGINS = " \t\n,;:-\u2013\u2014("


def sentences(text: str) -> list[str]:
    """``text`` at its sentence and line ends, in order; joined they say all that it says."""
    pieces: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        last_word = text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
        if _ABBREVIATION.search(last_word) and "\n" not in end.group():
            continue
        pieces.append(text[start : end.start()] + end.group().rstrip())
        start = end.end()
    return [stripped for piece in (*pieces, text[start:]) if (stripped := piece.strip())]


def cut_at_word(text: str, limit: int) -> str:
    """``text`` if it has at most ``limit`` characters, else its beginning up to a word's end, with an ellipsis."""
    if len(text) <= limit:
        return text
    beginning = text[: limit - 3]
    whole_words = beginning.rpartition(" ")[0] if " " in beginning[limit // 2 :] else beginning
    return whole_words.rstrip(_MARGINS) + "..."


def cut_at_sentence(text: str, limit: int) -> str:
    """The sentences of ``text`` that fit whole into ``limit``; if not half of it is used, cut at a word instead."""
    if len(text) <= limit:
        return text
    ends = [end.start() for end in _SENTENCE_END.finditer(text, 0, limit)]
    return text[: ends[-1]].rstrip() if ends and ends[-1] >= limit // 2 else cut_at_word(text, limit)


def words(text: str) -> list[str]:
    """Words in lower case; names with dots, dashes and slashes in them stay whole."""
    return [word.rstrip(".'/-").lower() for word in _WORD.findall(text)]


def overlap(text: str, others: set[str]) -> float:
    """Share of the distinct words of ``text`` that are among ``others``: 0 to 1; 1 if it has none."""
    mine = set(words(text))
    return len(mine & others) / len(mine) if mine else 1.0


def on_one_line(text: str) -> str:
    """``text`` with every run of white space replaced by one blank; none at either end."""
    return " ".join(text.split())
