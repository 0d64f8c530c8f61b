"""Finds records by their words, in the index of one namespace, with the help of indexes in memory.

An index in memory is kept for each namespace in use, in the state that was searched last.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence

import apsw
import attrs
import numpy as np
import structlog

from kiro_learn.adapters.sqlite import index_statements, statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.records import RecordKeys
from kiro_learn.adapters.sqlite.rows import to_text_of_hit
from kiro_learn.adapters.sqlite.word_index import Tokens, Totals, WordIndex
from kiro_learn.adapters.sqlite.word_reads import NUMBER_BITS, NUMBER_MASK, IndexDamaged, WordReads, tokenizer
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Hit, LexicalRanking, best_first
from kiro_learn.ports.storage.answers import NEIGHBOR_DISTANCE, SearchParams
from kiro_learn.retrieval.query.syntax import cap, ideal_score, match_expression, terms
from kiro_learn.retrieval.ranking.bm25 import (
    Phrase,
    PostingList,
    Scores,
    best,
    bm25,
    neighbor_scores,
    rank_by_containment,
)
from kiro_learn.retrieval.ranking.vector_index import eviction_count

MOST_BYTES = 256_000_000
"""The most memory of all indexes; a single larger one may stay. The least recently used ones are evicted."""

MOST_ARRIVALS = 1_000
"""The most new documents that are added to an index in memory. With more, reading it again is as fast."""


class WordIndexes:
    """Word indexes in memory, by namespace. Shared by all reading connections, which may see different states."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.records = RecordKeys()
        self._most_bytes = most_bytes
        self._indexes: OrderedDict[Namespace, tuple[WordIndex, int]] = OrderedDict()
        """The indexes, each with the count of doubts when it was made."""
        self._doubts: Counter[Namespace] = Counter()
        self._lock = threading.Lock()

    def index_at(self, namespace: Namespace, totals: Totals, reads: WordReads) -> WordIndex:
        """The index of ``namespace`` in the state that ``reads`` sees, whose totals are ``totals``."""
        with self._lock:
            doubts = self._doubts[namespace]
            known, doubts_then = self._indexes.get(namespace, (None, doubts))
        is_doubted = doubts != doubts_then
        found: WordIndex | None = None
        if known is not None:
            is_same = known.totals == totals and not is_doubted
            found = known if is_same else _advanced(known, totals, reads, is_doubted=is_doubted)
        if found is None:
            found = WordIndex(totals, reads.lengths(totals))
        with self._lock:
            self._put(namespace, found, doubts)
        return found

    def doubt(self, namespace: Namespace) -> None:
        """Note that documents were removed or restored, which totals alone do not always show."""
        with self._lock:
            self._doubts[namespace] += 1

    def discard(self, namespace: Namespace) -> None:
        """Discard the index, since its table is damaged."""
        with self._lock:
            self._indexes.pop(namespace, None)

    def _put(self, namespace: Namespace, index: WordIndex, doubts: int) -> None:
        known, _ = self._indexes.get(namespace, (index, doubts))
        if known.totals.last_number <= index.totals.last_number:
            self._indexes[namespace] = (index, doubts)
        self._indexes.move_to_end(namespace)
        for _ in range(eviction_count([kept.size_bytes for kept, _ in self._indexes.values()], self._most_bytes)):
            self._indexes.popitem(last=False)


def _advanced(known: WordIndex, totals: Totals, reads: WordReads, *, is_doubted: bool) -> WordIndex | None:
    """The index at ``totals``, made from ``known``; None if it has to be read again."""
    before = known.totals.last_number
    if not 0 <= totals.last_number - before <= MOST_ARRIVALS:
        return None
    try:
        arrivals = reads.arrivals(before, totals.last_number)
    except StorageCorrupt:  # a row cannot be read any more, but its words are in the index
        return None
    grown = known.with_arrivals(totals, arrivals)
    if is_doubted or not known.explains(totals, arrivals):
        return grown.with_lengths(totals, reads.lengths(totals))
    return grown


log = structlog.get_logger()

NOTHING = LexicalRanking((), 0.0)


def rank_by_words(connection: apsw.Connection, params: SearchParams, indexes: WordIndexes) -> LexicalRanking:
    """See ``StorageBackend.rank_by_words``. ``indexes`` change its cost, never its result."""
    words = terms(params.query)
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": params.namespace}).fetchone()
    if not words or params.limit <= 0 or row is None or row[1] == 0:
        return NOTHING
    number, last_number = row
    if any("\0" in word for word in words):  # no expression of FTS5 can name it
        return rank_by_texts(connection, number, words, params)
    try:
        return _rank_by_index(WordReads(connection, number), last_number, words, params, indexes)
    except IndexDamaged as error:
        log.warning("storage.word_index_damaged", namespace_number=number, error=type(error.__cause__).__name__)
        indexes.discard(params.namespace)
        return attrs.evolve(rank_by_texts(connection, number, words, params), is_index_damaged=True)


def _rank_by_index(
    reads: WordReads, last_number: int, words: Sequence[str], params: SearchParams, indexes: WordIndexes
) -> LexicalRanking:
    totals = reads.totals(last_number)
    if totals.documents == 0:
        return NOTHING
    index = _Index(reads, indexes.index_at(params.namespace, totals, reads), indexes.records)
    chosen = index.look_up(cap(words, index.document_frequency, most=params.term_cap))
    scores = bm25(((found.phrase.occurrences, found.phrase.shares) for found in chosen), len(index.words.norms))
    hits = index.hits(scores, params.limit)
    return LexicalRanking(
        hits=tuple(hits.values()),
        ideal_score=ideal_score((found.frequency for found in chosen), index.words.totals.documents),
        terms=tuple(found.word for found in chosen),
        neighbors=index.neighbors(chosen, hits) if params.with_neighbors else (),
    )


def rank_by_texts(
    connection: apsw.Connection, number: int, words: Sequence[str], params: SearchParams
) -> LexicalRanking:
    """As ``rank_by_words``, without the index: reads every record of the project, a few microseconds each."""
    found = connection.execute(index_statements.TEXTS_OF_NUMBER, {"number": number})
    texts = (text for row in decodable(found) if (text := to_text_of_hit(row)) is not None)
    return rank_by_containment(texts, words, most=params.term_cap, limit=params.limit)


@attrs.frozen
class _Word:
    """A word of the query and its postings."""

    word: str
    frequency: int
    """The number of documents that hold the word."""
    phrase: Phrase


@attrs.frozen
class _Index:
    """The words of one namespace, in one state of the database."""

    reads: WordReads
    words: WordIndex
    records: RecordKeys

    def look_up(self, words: Sequence[str]) -> list[_Word]:
        tokenize = tokenizer(self.reads.connection)
        return [self._word(word, tokenize(word)) for word in words]

    def document_frequency(self, word: str) -> int:
        return self.reads.count(match_expression([word]))

    def hits(self, scores: Scores, limit: int) -> dict[int, Hit]:
        """The best records by their ``scores``, best first; both are by the record's number."""
        numbers = best(scores, limit)
        base = self.reads.number << NUMBER_BITS
        records = self.records.read(self.reads.connection, (base | number for number in numbers.tolist()))
        hits = [
            Hit(*records[base | number], score)
            for number, score in zip(numbers.tolist(), scores.take(numbers).tolist(), strict=True)
            if base | number in records
        ]
        number_of = {record_id: key & NUMBER_MASK for key, (record_id, _) in records.items()}
        return {number_of[hit.record_id]: hit for hit in best_first(hits)[:limit]}

    def neighbors(self, chosen: Sequence[_Word], hits: Mapping[int, Hit]) -> tuple[Hit, ...]:
        """The ``hits``, by number, in which consecutive words of the query are close together, best first."""
        documents = np.array(sorted(hits), np.int32)
        phrases = [word.phrase for word in chosen]
        norms = self.words.norms.take(documents)
        scores = neighbor_scores(phrases, documents, norms, distance=NEIGHBOR_DISTANCE).tolist()
        found = ((hits[number], score) for number, score in zip(documents.tolist(), scores, strict=True) if score)
        return tuple(best_first(Hit(hit.record_id, hit.created_at, score) for hit, score in found))

    def _read(self, token: str) -> PostingList:
        return self.reads.occurrences(token, last_number=self.words.totals.last_number)

    def _word(self, word: str, tokens: Tokens) -> _Word:
        found = self.words.occurrences(tokens, self._read)
        phrase = Phrase.of(found, len(tokens), self.words.norms, self.words.totals.documents)
        return _Word(word, len(found.documents), phrase)
