"""Finding records by their words, within one namespace's own index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw
import attrs

from kiro_learn.model.hit import Hit
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.query.terms import cap, ideal_score, inverse_document_frequency, match_expression, terms
from kiro_learn.retrieval.ranking.bm25 import Scores, best, bm25, shares
from kiro_learn.retrieval.ranking.neighbors import Phrase, neighbor_scores
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.storage.interface import NEIGHBOR_DISTANCE, LexicalRanking, SearchParams
from kiro_learn.storage.sqlite import statements
from kiro_learn.storage.sqlite.record_keys import RecordKeys
from kiro_learn.storage.sqlite.word_index import Tokens, WordIndex
from kiro_learn.storage.sqlite.word_indexes import WordIndexes
from kiro_learn.storage.sqlite.word_reads import NUMBER_BITS, WordReads, tokenizer

NOTHING = LexicalRanking((), 0.0)


def rank_by_words(connection: apsw.Connection, params: SearchParams, indexes: WordIndexes) -> LexicalRanking:
    """See ``StorageBackend.rank_by_words``. ``indexes`` change what it costs, never what it says."""
    words = terms(params.query)
    index = _index_of(connection, params.namespace, indexes)
    if not words or index is None or params.limit <= 0:
        return NOTHING
    if any("\0" in word for word in words):  # no expression of FTS5 can name it
        return LexicalRanking(index.find_literally(params.query, params.limit), 0.0)
    chosen = index.look_up(cap(words, index.document_frequency, most=params.term_cap))
    rankings = [bm25(((found.phrase.occurrences, found.phrase.shares) for found in chosen), len(index.words.norms))]
    if params.with_neighbors:
        rankings.append(index.neighbors(chosen, params.limit))
    hits, *neighbors = index.hits(rankings, params.limit)
    return LexicalRanking(
        hits=hits,
        ideal_score=ideal_score((found.frequency for found in chosen), index.words.totals.documents),
        terms=tuple(found.word for found in chosen),
        neighbors=neighbors[0] if neighbors else (),
    )


def _index_of(connection: apsw.Connection, namespace: Namespace, indexes: WordIndexes) -> _Index | None:
    """The index of the namespace, if it has records."""
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if row is None or row[1] == 0:
        return None
    reads = WordReads(connection, row[0])
    totals = reads.totals(last_number=row[1])
    if totals.documents == 0:
        return None
    return _Index(connection, reads, indexes.index_at(namespace, totals, reads), indexes.records)


@attrs.frozen
class _Word:
    """A word of the query, and where it stands."""

    word: str
    frequency: int
    """How many documents hold it."""
    phrase: Phrase


@attrs.frozen
class _Index:
    """The words of one namespace, in one state of the database."""

    connection: apsw.Connection
    reads: WordReads
    words: WordIndex
    records: RecordKeys

    def look_up(self, words: Sequence[str]) -> list[_Word]:
        tokenize = tokenizer(self.connection)
        return [self._word(word, tokenize(word)) for word in words]

    def document_frequency(self, word: str) -> int:
        return self.reads.count(match_expression([word]))

    def hits(self, rankings: Sequence[Scores], limit: int) -> list[tuple[Hit, ...]]:
        """Of each, the best records by its scores, by number. Many are in both, and are read once."""
        chosen = [best(scores, limit).tolist() for scores in rankings]
        base = self.reads.number << NUMBER_BITS
        records = self.records.read(self.connection, {base | number for numbers in chosen for number in numbers})
        return [
            tuple(
                best_first(
                    Hit(*records[base | number], score)
                    for number, score in zip(numbers, scores[numbers].tolist(), strict=True)
                    if base | number in records
                )[:limit]
            )
            for scores, numbers in zip(rankings, chosen, strict=True)
        ]

    def neighbors(self, chosen: Sequence[_Word], limit: int) -> Scores:
        """By number: how close together the words of the query stand in the ``limit`` best of the records."""
        phrases = [word.phrase for word in chosen]
        return neighbor_scores(phrases, self.words.norms, distance=NEIGHBOR_DISTANCE, limit=limit)

    def find_literally(self, query: str, limit: int) -> tuple[Hit, ...]:
        values: Mapping[str, str | int] = {"number": self.reads.number, "query": query, "limit": limit}
        found = self.connection.execute(statements.FIND_LITERALLY, values)
        return tuple(Hit(record_id, from_text(created_at), score) for record_id, created_at, score in found)

    def _word(self, word: str, tokens: Tokens) -> _Word:
        found = self.words.occurrences(tokens, self.reads.occurrences)
        frequency = len(found.documents)
        idf = inverse_document_frequency(frequency, self.words.totals.documents)
        weights = shares(idf, found.counts, self.words.norms.take(found.documents))
        return _Word(word, frequency, Phrase(idf, found, weights, len(tokens)))
