"""The spans of a message that may be the name of an entity, each with the spellings under which it is looked up.

Rules of this file: nothing is looked up that the message does not have in it, so ``env`` does not find ``.env``; and
however long a message is, the number of its spans is bounded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

import attrs

from kiro_learn.model.graph import MAX_NAME
from kiro_learn.retrieval.graph.name_parts import POSSESSIVE, WORDS, NamePart, core, ends_of_name, parts_of, runs_of

MOST_WORDS = 120
"""Of a message in which entities are looked for: half of them at its beginning, half at its end."""
LONGEST_NAME = 8
"""Words of a name, as many as are learned."""
MOST_PARTS = 160
"""Parts of joined words, and characters of scripts without spaces: half of them first ones, half last ones."""
MOST_SPANS = 3_000
"""Of a message, so no more names are looked up. Without signs, 120 words have 932; 3,000 take SQLite 5 ms."""
_MOST_SIGNS = 2
"""At either end of a name of one word, as in ``--force`` and ``foo()``; of several words one."""

_NOTHING: frozenset[str] = frozenset()


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
    beside: frozenset[str] = _NOTHING
    """In small letters, what else has to be a name for this to be one: the other steps of ``redis/postgres``."""

    @property
    def name(self) -> str:
        """In small letters, as it is looked up."""
        return self.written.casefold()


@attrs.frozen
class _Edge:
    """Where a name of several words may begin or end inside a word, and what else has to be a name then."""

    place: int
    beside: frozenset[str] = _NOTHING


@attrs.frozen
class _Word:
    """A word of a message. Places are those in the message."""

    piece: str
    """With all its signs."""
    at: int
    """Where the piece begins."""
    start: int
    """Without signs."""
    ends: tuple[int, ...]
    """The last one first; where it has a possessive or particles, before those too."""
    begins: bool
    """It begins a sentence."""
    parts: Sequence[NamePart]
    """Empty where the piece is one part, or where there are too many in the message."""
    is_plain: bool
    """It can be read in one way only, and so can what stands between it and the word before."""

    @property
    def plain(self) -> str:
        """Without signs and without a possessive."""
        text = self.piece[self.start - self.at : self.ends[0] - self.at]
        return POSSESSIVE.sub("", text)

    def starts(self, signs: int) -> list[int]:
        """Without signs and with up to so many."""
        return [self.start - count for count in range(min(signs, self.start - self.at) + 1)]

    def stops(self, signs: int) -> list[int]:
        """Before a possessive, without signs, and with up to so many."""
        end = self.ends[0]
        room = self.at + len(self.piece) - end
        return [*self.ends, *(end + count for count in range(1, min(signs, room) + 1))]

    def first_edges(self) -> list[_Edge]:
        """Where a name of several words may begin in it."""
        last = self.parts[-1:]
        inside = [_Edge(self.at + part.start, part.beside) for part in last if part.kind in WORDS]
        return [*map(_Edge, self.starts(1)), *inside]

    def last_edges(self) -> list[_Edge]:
        """Where a name of several words may end in it."""
        first = self.parts[:1]
        inside = [_Edge(self.at + end, part.beside) for part in first if part.kind in WORDS for end in part.ends]
        return [*map(_Edge, self.stops(1)), *inside]


def bare(piece: str) -> str:
    """``piece`` without the signs at either end, in time that grows with its length."""
    start, end = core(piece)
    return piece[start:end]


def spans_in(text: str) -> tuple[Span, ...]:
    """What may be a name, the longest first: by words, then by characters, then by place."""
    pieces = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    half = MOST_WORDS // 2
    stretches = [pieces] if len(pieces) <= MOST_WORDS else [pieces[:half], pieces[-half:]]
    line = " ".join(piece for stretch in stretches for piece in stretch)
    found = list(islice(_spans(line, _words_of(stretches)), MOST_SPANS))
    return tuple(sorted(found, key=lambda span: (-span.words, span.start - span.end, span.start)))


def _words_of(stretches: Sequence[Sequence[str]]) -> list[list[_Word]]:
    """The words of each stretch; of their parts the first and the last ones only."""
    split = [[_parts_of_several(piece) for piece in stretch] for stretch in stretches]
    total = sum(len(parts) for stretch in split for parts in stretch)
    found: list[list[_Word]] = []
    at = passed = 0
    for stretch, parts_of_stretch in zip(stretches, split, strict=True):
        words: list[_Word] = []
        begins = is_next = True
        for piece, parts in zip(stretch, parts_of_stretch, strict=True):
            start, end = core(piece)
            if start < end:
                ends = tuple(at + start + each for each in ends_of_name(piece[start:end]))
                kept = [part for number, part in enumerate(parts, passed) if _is_near_an_end(number, total)]
                is_plain = is_next and end - start == len(piece) and len(ends) == 1 and not kept
                words.append(_Word(piece, at, at + start, ends, begins, kept, is_plain))
            is_next = start < end
            begins = piece[-1:] in {".", "!", "?", ":"}
            at += len(piece) + 1
            passed += len(parts)
        found.append(words)
    return found


def _parts_of_several(piece: str) -> Sequence[NamePart]:
    if piece.isascii() and piece.isalnum():
        return ()
    parts = parts_of(piece, most=MOST_PARTS)
    return parts if len(parts) > 1 else ()


def _is_near_an_end(number: int, total: int) -> bool:
    return min(number, total - 1 - number) < MOST_PARTS // 2


def _spans(line: str, stretches: Sequence[Sequence[_Word]]) -> Iterator[Span]:
    """The plainest first, so that what is beyond the bound is the least likely to be a name."""
    for read in (_plain, _inside, _with_signs, _runs_as_written):
        for words in stretches:
            for span in read(line, words):
                yield span
                if not span.written.isascii():
                    simple = unicodedata.normalize("NFKC", span.written)
                    if simple != span.written:
                        yield attrs.evolve(span, written=simple)


def _plain(_line: str, words: Sequence[_Word]) -> Iterator[Span]:
    """Runs of words without signs around any of them."""
    texts = [word.plain for word in words]
    for count in range(1, LONGEST_NAME + 1):
        for index in range(len(words) - count + 1):
            first, last = words[index], words[index + count - 1]
            if last.ends[0] - first.start <= MAX_NAME:
                written = " ".join(texts[index : index + count])
                yield Span(first.start, last.ends[0], count, written, first.begins)


def _inside(_line: str, words: Sequence[_Word]) -> Iterator[Span]:
    """Parts of one word."""
    for word in words:
        for start, end, index, beside in runs_of(word.parts):
            if end - start <= MAX_NAME:
                begins = word.begins and index == 0
                yield Span(word.at + start, word.at + end, 1, word.piece[start:end], begins, beside)


def _with_signs(line: str, words: Sequence[_Word]) -> Iterator[Span]:
    """One word with signs at its ends, and before a possessive."""
    for word in words:
        if word.is_plain:
            continue
        for start in word.starts(_MOST_SIGNS):
            for stop in word.stops(_MOST_SIGNS):
                if stop - start <= MAX_NAME:
                    yield Span(start, stop, 1, line[start:stop], word.begins)


def _runs_as_written(line: str, words: Sequence[_Word]) -> Iterator[Span]:
    """Runs of words with the signs between them, and with or without those around them."""
    plain_before = [0, *accumulate(word.is_plain for word in words)]
    firsts, lasts = [word.first_edges() for word in words], [word.last_edges() for word in words]
    for count in range(2, LONGEST_NAME + 1):
        for index in range(len(words) - count + 1):
            if plain_before[index + count] - plain_before[index] == count:
                continue
            begins = words[index].begins
            for first in firsts[index]:
                for last in lasts[index + count - 1]:
                    if last.place - first.place <= MAX_NAME:
                        written = line[first.place : last.place]
                        yield Span(first.place, last.place, count, written, begins, first.beside | last.beside)
