"""bm25 as FTS5 computes it, over few documents and without SQLite.

Robertson & Zaragoza 2009 with k1 = 1.2 and b = 0.75; a term's idf is FTS5's (never below 1e-6); the operations are in
FTS5's order, so that sums round alike. Words are stemmed by Porter's algorithm of 1980. FTS5 follows his later
revision, which differs on words in -logy and -bly and hardly elsewhere (55 of 240,000 words found in source code).
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import attrs
import snowballstemmer  # type: ignore[import-untyped]  # it ships no types

from kiro_learn.model.ids import RecordId
from kiro_learn.model.indexed_text import indexed_columns
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.query.terms import inverse_document_frequency

K1 = 1.2
B = 0.75
SHORTEST_STEMMED = 3
LONGEST_STEMMED = 64

Tokens: TypeAlias = tuple[str, ...]
Document: TypeAlias = tuple[Tokens, ...]
"""The tokens of each column."""

_stemmer = snowballstemmer.stemmer("porter")
_WORD = re.compile(r"[^\W_]+")


@functools.lru_cache(maxsize=10_000)
def tokens(text: str) -> Tokens:
    """Words in lower case, without diacritics, stemmed."""
    plain = "".join(mark for mark in unicodedata.normalize("NFD", text) if not unicodedata.combining(mark))
    return tuple(_stem(word) for word in _WORD.findall(plain.lower()))


def _stem(word: str) -> str:
    if not SHORTEST_STEMMED <= len(word.encode()) <= LONGEST_STEMMED:
        return word
    stem: str = _stemmer.stemWord(word)
    return stem


@attrs.frozen
class WordIndex:
    """The words of one namespace's records."""

    documents: Mapping[RecordId, Document]

    @classmethod
    def of(cls, records: Iterable[MemoryRecord]) -> WordIndex:
        return cls({record.record_id: tuple(map(tokens, indexed_columns(record))) for record in records})

    def document_frequency(self, term: str) -> int:
        return sum(occurrences(tokens(term), document) > 0 for document in self.documents.values())

    def scores(self, terms: Sequence[str]) -> dict[RecordId, float]:
        """Of every record that holds a term: higher is better."""
        phrases = [tokens(term) for term in terms]
        counts = {key: [occurrences(phrase, text) for phrase in phrases] for key, text in self.documents.items()}
        return self._weighed(terms, counts)

    def neighbor_scores(self, terms: Sequence[str], *, distance: int) -> dict[RecordId, float]:
        """Of every record that holds two consecutive terms with at most ``distance`` words between."""
        pairs = list(pairwise(terms))
        phrases = [(tokens(first), tokens(second)) for first, second in pairs]
        counts = {
            key: [count for pair in phrases for count in near_occurrences(*pair, text, distance=distance)]
            for key, text in self.documents.items()
        }
        return self._weighed([term for pair in pairs for term in pair], counts)

    def _weighed(self, terms: Sequence[str], counts: Mapping[RecordId, Sequence[int]]) -> dict[RecordId, float]:
        total = len(self.documents)
        weights = [inverse_document_frequency(self.document_frequency(term), total) for term in terms]
        mean_length = sum(map(length, self.documents.values())) / max(total, 1)
        return {
            record_id: _bm25(frequencies, weights, length(self.documents[record_id]), mean_length)
            for record_id, frequencies in counts.items()
            if any(frequencies)
        }


def length(document: Document) -> int:
    return sum(map(len, document))


def occurrences(phrase: Tokens, document: Document) -> int:
    """How often ``phrase`` stands in any column; a phrase without words stands nowhere."""
    if not phrase:
        return 0
    return sum(len(places(phrase, column)) for column in document)


def places(phrase: Tokens, column: Tokens) -> list[int]:
    """Where in ``column`` a phrase that has words begins."""
    size = len(phrase)
    return [start for start in range(len(column) - size + 1) if column[start : start + size] == phrase]


def near_occurrences(first: Tokens, second: Tokens, document: Document, *, distance: int) -> tuple[int, int]:
    """How many occurrences of either phrase FTS5 takes to be near one of the other.

    It walks both lists of places at once and goes on with the one whose next place comes first (fts5_expr.c,
    ``fts5ExprNearIsMatch``). A phrase without words forms no pair.
    """
    near = [_near_in_column(first, second, column, distance) for column in document]
    return (sum(len(firsts) for firsts, _ in near), sum(len(seconds) for _, seconds in near))


def _near_in_column(first: Tokens, second: Tokens, column: Tokens, distance: int) -> tuple[set[int], set[int]]:
    lists = (places(first, column), places(second, column))
    reach = (len(first) + distance, len(second) + distance)
    at = [0, 0]
    near: tuple[set[int], set[int]] = (set(), set())
    while all(index < len(found) for index, found in zip(at, lists, strict=True)):
        here = [lists[0][at[0]], lists[1][at[1]]]
        behind = 0 if here[0] < here[1] else 1
        if here[behind] < max(here) - reach[behind]:
            at[behind] += 1
            continue
        near[0].add(here[0])
        near[1].add(here[1])
        following = [
            found[index + 1] if index + 1 < len(found) else math.inf for index, found in zip(at, lists, strict=True)
        ]
        at[1 if following[1] < following[0] else 0] += 1
    return near


def _bm25(frequencies: Sequence[int], weights: Sequence[float], size: int, mean_length: float) -> float:
    score = 0.0
    for frequency, weight in zip(frequencies, weights, strict=True):
        score += weight * ((frequency * (K1 + 1.0)) / (frequency + K1 * (1 - B + B * size / mean_length)))
    return score
