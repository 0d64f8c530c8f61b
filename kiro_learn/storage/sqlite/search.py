"""Finding records by their words, within one namespace's own index."""

from __future__ import annotations

import functools

import apsw

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.moment import from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.query.terms import cap, ideal_score, match_expression, terms
from kiro_learn.storage.interface import LexicalRanking, SearchParams
from kiro_learn.storage.sqlite import statements
from kiro_learn.storage.sqlite.statements import for_namespace

NOTHING = LexicalRanking((), 0.0)


def rank_by_words(connection: apsw.Connection, params: SearchParams) -> LexicalRanking:
    """See ``StorageBackend.rank_by_words``."""
    words = terms(params.query)
    number = _index_number(connection, params.namespace)
    if not words or number is None or params.limit <= 0:
        return NOTHING
    try:
        return _rank(connection, number, words, params)
    except apsw.SQLError:  # the index refuses the expression
        return _find_literally(connection, number, params)


def _index_number(connection: apsw.Connection, namespace: Namespace) -> int | None:
    """The number of the namespace, if it ever had a record and so has an index."""
    row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if row is None:
        return None
    number, last_record = row
    return number if last_record > 0 else None


def _rank(connection: apsw.Connection, number: int, words: tuple[str, ...], params: SearchParams) -> LexicalRanking:
    frequency = functools.cache(functools.partial(_document_frequency, connection, number))
    kept = cap(words, frequency, most=params.term_cap)
    values = {"expression": match_expression(kept), "limit": params.limit}
    found = connection.execute(for_namespace(statements.RANK_BY_WORDS, number), values)
    hits = tuple(Hit(record_id, from_text(created_at), score) for record_id, created_at, score in found)
    total = connection.execute(statements.COUNT_RECORDS_OF_NAMESPACE, {"namespace": params.namespace}).get
    return LexicalRanking(hits, ideal_score(map(frequency, kept), total) if total else 0.0)


def _document_frequency(connection: apsw.Connection, number: int, word: str) -> int:
    values = {"expression": match_expression([word])}
    count: int = connection.execute(for_namespace(statements.DOCUMENT_FREQUENCY, number), values).get
    return count


def _find_literally(connection: apsw.Connection, number: int, params: SearchParams) -> LexicalRanking:
    values = {"number": number, "query": params.query, "limit": params.limit}
    found = connection.execute(statements.FIND_LITERALLY, values)
    return LexicalRanking(tuple(Hit(RecordId(row[0]), from_text(row[1]), row[2]) for row in found), 0.0)
