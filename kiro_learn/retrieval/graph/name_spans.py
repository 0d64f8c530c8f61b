"""The spans of a message that may be the name of an entity: whole words, with or without the signs around them.

Nothing is looked up that the message does not have in it, so ``env`` does not find ``.env``; nothing inside a word is a
name; and however long a message is, the number of its spans is bounded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

import attrs

from kiro_learn.model.graph import MAX_NAME

MOST_WORDS = 120
"""Of a message in which entities are looked for: half of them at its beginning, half at its end."""
LONGEST_NAME = 8
"""Words of a name, as many as are learned."""
MOST_SPANS = 3_000
"""Of a message, so no more names are looked up. Without signs, 120 words have 932; 3,000 take SQLite 5 ms."""
_MOST_SIGNS = 2
"""At either end of a name of one word, as in ``--force`` and ``foo()``; of several words one."""


@attrs.frozen
class Span:
    """A stretch of a message that may be a name."""

    start: int
    """In characters, as ``end``: what two names have in common belongs to the longer one."""
    end: int
    words: int
    written: str
    begins: bool
    """It begins a sentence, so its capital letter says nothing."""

    @property
    def name(self) -> str:
        """In small letters, as it is looked up."""
        return self.written.casefold()


@attrs.frozen
class _Word:
    """A word of a message. Places are those in the message."""

    at: int
    """Where it begins, with all its signs."""
    until: int
    start: int
    """Without signs."""
    end: int
    begins: bool
    """It begins a sentence."""
    is_possessive: bool

    def starts(self, signs: int) -> range:
        """Without signs and with up to so many."""
        return range(self.start, max(self.at, self.start - signs) - 1, -1)

    def stops(self, signs: int) -> list[int]:
        """Without signs, with up to so many, and before a possessive."""
        possessive = [self.end - 2] if self.is_possessive else []
        return [*range(self.end, min(self.until, self.end + signs) + 1), *possessive]


def bare(piece: str) -> str:
    """``piece`` without the signs at either end, in time that grows with its length."""
    start, end = _core(piece)
    return piece[start:end]


def _core(piece: str) -> tuple[int, int]:
    """``_``, ``+`` and ``#`` are letters here, and so is a mark that belongs to one, as a vowel sign."""
    kept = [place for place, character in enumerate(piece) if character.isalnum() or _is_letter(character)]
    return (kept[0], kept[-1] + 1) if kept else (0, 0)


def _is_letter(character: str) -> bool:
    if character.isascii():
        return character in "_+#"
    return unicodedata.category(character) in {"Mn", "Mc"} and not "\ufe00" <= character <= "\ufe0f"


def spans_in(text: str) -> tuple[Span, ...]:
    """What may be a name, the longest first: by words, then by characters, then by place."""
    pieces = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    half = MOST_WORDS // 2
    stretches = [pieces] if len(pieces) <= MOST_WORDS else [pieces[:half], pieces[-half:]]
    line = " ".join(piece for stretch in stretches for piece in stretch)
    found = list(islice(_spans(line, _words_of(stretches)), MOST_SPANS))
    return tuple(sorted(found, key=lambda span: (-span.words, span.start - span.end, span.start)))


def _words_of(stretches: Sequence[Sequence[str]]) -> list[list[_Word]]:
    """The words of each stretch; a piece that is only signs is none, and stays between two of them."""
    found: list[list[_Word]] = []
    at = 0
    for stretch in stretches:
        words: list[_Word] = []
        begins = True
        for piece in stretch:
            start, end = _core(piece)
            if start < end:
                is_possessive = piece[start:end].endswith("'s")
                words.append(_Word(at, at + len(piece), at + start, at + end, begins, is_possessive))
            begins = piece[-1:] in {".", "!", "?", ":"}
            at += len(piece) + 1
        found.append(words)
    return found


def _spans(line: str, stretches: Sequence[Sequence[_Word]]) -> Iterator[Span]:
    """First words without the signs around them, then with them: what is beyond the bound is the least likely."""
    for with_signs in (False, True):
        for words in stretches:
            for count in range(1, LONGEST_NAME + 1):
                most = (_MOST_SIGNS if count == 1 else 1) if with_signs else 0
                for first, last in zip(words, words[count - 1 :], strict=False):
                    if not with_signs or first.at < first.start or last.end < last.until:
                        yield from _of_run(line, first, last, count, most)


def _of_run(line: str, first: _Word, last: _Word, count: int, most_signs: int) -> Iterator[Span]:
    """From ``first`` to ``last``; of more than no signs only those that have one."""
    for start in first.starts(most_signs):
        for end in last.stops(most_signs):
            is_new = most_signs == 0 or start < first.start or end > last.end
            if is_new and end - start <= MAX_NAME:
                span = Span(start, end, count, line[start:end], first.begins)
                yield span
                plain = span.written if span.written.isascii() else unicodedata.normalize("NFKC", span.written)
                if plain != span.written:
                    yield attrs.evolve(span, written=plain)
