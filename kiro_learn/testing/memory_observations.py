"""What ``InMemoryStorage`` answers about observations. Expressions of FTS5 are left to FTS5, over a table in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.model.hit import Hit
from kiro_learn.model.indexed_text import COLUMNS, indexed_columns
from kiro_learn.ports.storage.observations import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.testing.memory_state import State


class MemoryObservations:
    """The part of ``InMemoryStorage`` that ``ports.storage.observations`` describes."""

    _read: Callable[[], Awaitable[State]]

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        return search_syntax(await self._read(), search)


def search_syntax(state: State, search: SyntaxSearch) -> SyntaxRanking:
    records = state.records_of(search.namespace)
    if search.namespace in state.damaged_words:
        return SyntaxRanking((), is_index_damaged=True)
    connection = apsw.Connection(":memory:")
    connection.execute(for_namespace(statements.CREATE_INDEX, 1))
    for number, record in enumerate(records):
        words = dict(zip(COLUMNS, indexed_columns(record), strict=True))
        connection.execute(for_namespace(statements.PUT_WORDS, 1), {"number": number, **words})
    scores = dict(connection.execute(for_namespace(statements.SCORES_OF_EXPRESSION, 1), (search.expression,)))
    hits = (
        Hit(record.record_id, record.created_at, scores[number])
        for number, record in enumerate(records)
        if number in scores and search.filter.fits(record)
    )
    return SyntaxRanking(tuple(best_first(hits)[: search.limit]))
