"""Finding records by their words, within one namespace's own index."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import apsw
import attrs

from kiro_learn.model.hit import Hit
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.query.pruning import needed, rarest
from kiro_learn.retrieval.query.terms import cap, ideal_score, match_expression, neighbor_expression, terms
from kiro_learn.storage.interface import NEIGHBOR_DISTANCE, LexicalRanking, SearchParams
from kiro_learn.storage.sqlite import statements
from kiro_learn.storage.sqlite.statements import for_namespace

NOTHING = LexicalRanking((), 0.0)

PROBE_COUNT = 1000
"""Records that are scored first, to learn which others need not be."""

WORTH_PROBING = 10
"""Times ``PROBE_COUNT``: below, the two passes cost more than they save (32 rare words of a pasted log, 50,000 records:
67 ms of processor at once, 109 in two passes; 8 words of prose: 87 at once, 35 in two)."""


def rank_by_words(
    connection: apsw.Connection, params: SearchParams, *, probe_count: int = PROBE_COUNT
) -> LexicalRanking:
    """See ``StorageBackend.rank_by_words``. ``probe_count`` changes what it costs, never what it says."""
    words = terms(params.query)
    index = _index_of(connection, params.namespace)
    if not words or index is None or params.limit <= 0:
        return NOTHING
    try:
        frequency = functools.cache(index.document_frequency)
        frequencies = {word: frequency(word) for word in cap(words, frequency, most=params.term_cap)}
        hits = _best(index, frequencies, params.limit, probe_count)
        pairs = neighbor_expression(tuple(frequencies), distance=NEIGHBOR_DISTANCE) if params.with_neighbors else ""
        neighbors = index.score(pairs, params.limit) if pairs else ()
    except apsw.SQLError:  # the index refuses the expression
        return LexicalRanking(index.find_literally(params.query, params.limit), 0.0)
    ideal = ideal_score(frequencies.values(), index.total)
    return LexicalRanking(hits, ideal_score=ideal, terms=tuple(frequencies), neighbors=neighbors)


def _best(index: _Index, frequencies: Mapping[str, int], limit: int, probe_count: int) -> tuple[Hit, ...]:
    """The best ``limit`` records; those that cannot be among them are not scored if that is worth finding out."""
    expression = match_expression(frequencies)
    if sum(frequencies.values()) <= WORTH_PROBING * probe_count:
        return index.score(expression, limit)
    probe = rarest(frequencies, most_records=probe_count)
    hits = index.score_among(probe, expression, limit)
    threshold = hits[-1].score if len(hits) == limit else 0.0
    wanted = needed(frequencies, index.total, threshold=threshold)
    if set(wanted) <= set(probe):
        return hits
    if len(wanted) == sum(count > 0 for count in frequencies.values()):
        return index.score(expression, limit)
    return index.score_among(wanted, expression, limit)


def _index_of(connection: apsw.Connection, namespace: Namespace) -> _Index | None:
    """The index of the namespace, if it has records."""
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    total: int = connection.execute(statements.COUNT_RECORDS_OF_NAMESPACE, {"namespace": namespace}).get
    return _Index(connection, row[0], total) if row is not None and total > 0 else None


@attrs.frozen
class _Index:
    """The words of one namespace."""

    connection: apsw.Connection
    number: int
    total: int
    """How many records it holds."""

    def document_frequency(self, word: str) -> int:
        count: int = self._ask(statements.DOCUMENT_FREQUENCY, expression=match_expression([word])).get
        return count

    def score(self, expression: str, limit: int) -> tuple[Hit, ...]:
        return _hits(self._ask(statements.RANK_ALL, expression=expression, limit=limit))

    def score_among(self, words: Iterable[str], expression: str, limit: int) -> tuple[Hit, ...]:
        """As ``score``, but only of the records that hold one of ``words``."""
        among = match_expression(words)
        return _hits(self._ask(statements.RANK_SOME, expression=expression, among=among, limit=limit))

    def find_literally(self, query: str, limit: int) -> tuple[Hit, ...]:
        return _hits(self._ask(statements.FIND_LITERALLY, number=self.number, query=query, limit=limit))

    def _ask(self, statement: str, **values: str | int) -> apsw.Cursor:
        return self.connection.execute(for_namespace(statement, self.number), values)


def _hits(found: apsw.Cursor) -> tuple[Hit, ...]:
    return tuple(Hit(record_id, from_text(created_at), score) for record_id, created_at, score in found)
