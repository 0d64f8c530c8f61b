"""Queries about observations, and about learned records by what observations have: type and time."""

from __future__ import annotations

import functools

import apsw
import structlog

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.readers import Readers
from kiro_learn.adapters.sqlite.rows import Values, to_moment
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.word_writes import DAMAGE
from kiro_learn.model.hit import Hit
from kiro_learn.model.moment import to_text
from kiro_learn.model.record_filter import RecordFilter
from kiro_learn.ports.storage.observations import SyntaxRanking, SyntaxSearch

log = structlog.get_logger()

AFTER_ALL = "~"
"""Sorts after every moment."""


class ObservationReads:
    """The part of the store that ``ports.storage.observations`` describes."""

    _readers: Readers

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        return await self._readers.read(functools.partial(search_syntax, search=search))


def search_syntax(connection: apsw.Connection, search: SyntaxSearch) -> SyntaxRanking:
    """See ``ObservationReads.search_syntax``."""
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": search.namespace}).fetchone()
    if row is None or row[1] == 0:
        return SyntaxRanking(())
    values: Values = {"expression": search.expression, "limit": search.limit, **filter_values(search.filter)}
    try:
        found = connection.execute(for_namespace(statements.SEARCH_SYNTAX, row[0]), values)
        hits = [
            Hit(record_id, made_at, score)
            for record_id, created_at, score in decodable(found)
            if (made_at := to_moment(created_at)) is not None
        ]
    except DAMAGE as error:
        log.warning("storage.word_index_damaged", namespace_number=row[0], error=type(error).__name__)
        return SyntaxRanking((), is_index_damaged=True)
    return SyntaxRanking(tuple(hits))


def filter_values(wanted: RecordFilter) -> Values:
    return {
        "type": wanted.type,
        "since": "" if wanted.since is None else to_text(wanted.since),
        "until": AFTER_ALL if wanted.until is None else to_text(wanted.until),
    }
