"""What is written into a namespace's index of words, and how a damaged one is rebuilt.

A write never fails for a damaged index: it begins a new one, which lacks the other records until it is rebuilt. A
search notices that, and finds records without the index meanwhile.
"""

from __future__ import annotations

import apsw
import structlog

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import COLUMNS, MemoryRecord, indexed_columns

log = structlog.get_logger()

DAMAGE = (apsw.CorruptError, apsw.SQLError, apsw.ConstraintError)
"""What FTS5 raises over tables that are gone or not as it left them."""

WORDLESS = ("",) * len(COLUMNS)
"""The words of a record that cannot be read: it has its place, so that the index is whole."""


def put_words(connection: apsw.Connection, number: int, texts: tuple[str, ...]) -> None:
    """Enter the ``COLUMNS`` of the record whose row has this number."""
    values: rows.Values = {"number": number, **dict(zip(COLUMNS, texts, strict=True))}
    _execute(connection, statements.PUT_WORDS, number >> 32, values)


def delete_words(connection: apsw.Connection, number: int) -> None:
    _execute(connection, statements.DELETE_WORDS, number >> 32, {"number": number})


def _execute(connection: apsw.Connection, statement: str, namespace_number: int, values: rows.Values) -> None:
    """Run one statement, and have FTS5 write it: else its damage would show at the COMMIT, and undo the whole batch.

    What FTS5 cannot write for want of a table of its own, it keeps, and refuses every statement until the transaction
    ends; so these tables are looked for before.
    """
    connection.execute("SAVEPOINT words")
    try:
        connection.execute(for_namespace(statements.HAS_WHOLE_INDEX, namespace_number))
        connection.execute(for_namespace(statement, namespace_number), values)
        connection.execute(for_namespace(statements.FLUSH_WORDS, namespace_number))
        connection.execute("RELEASE words")
    except DAMAGE as error:
        connection.execute("ROLLBACK TO words")
        connection.execute("RELEASE words")
        log.warning("storage.word_index_reset", namespace_number=namespace_number, error=type(error).__name__)
        reset_index(connection, namespace_number)
        connection.execute(for_namespace(statement, namespace_number), values)


def reset_index(connection: apsw.Connection, namespace_number: int) -> None:
    """An empty index in the place of whatever is there."""
    try:
        connection.execute(for_namespace(statements.DROP_INDEX, namespace_number))
    except apsw.SQLError:  # without its configuration, FTS5 does not even do that
        connection.execute(for_namespace(statements.MEND_CONFIGURATION, namespace_number))
        connection.execute(for_namespace(statements.DROP_INDEX, namespace_number))
    connection.execute(for_namespace(statements.DROP_REST_OF_INDEX, namespace_number))
    connection.execute(for_namespace(statements.CREATE_INDEX, namespace_number))


def begin(connection: apsw.Connection, namespace_number: int) -> None:
    """FTS5 writes its totals with the first row, and an index without them counts as damaged."""
    put_words(connection, namespace_number << 32, WORDLESS)
    delete_words(connection, namespace_number << 32)


def rebuild(connection: apsw.Connection, namespace: Namespace, *, after: int, most: int) -> int | None:
    """See ``StorageTransaction.rebuild_words``."""
    namespace_row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if namespace_row is None or namespace_row[1] == 0:
        return None
    namespace_number, last_number = namespace_row
    base = namespace_number << 32
    if after == 0:
        reset_index(connection, namespace_number)
    values = {"after": base | after, "last": base | last_number, "limit": most}
    found: list[rows.Row] = connection.execute(statements.FIRST_RECORDS_BETWEEN, values).fetchall()
    for number, *row in found:
        is_indexed = connection.execute(for_namespace(statements.IS_INDEXED, namespace_number), {"number": number})
        if is_indexed.fetchone() is None:
            put_words(connection, number, texts_of(tuple(row)))
    if after == 0 and not found:
        begin(connection, namespace_number)
    return int(found[-1][0]) - base if len(found) == most else None


def texts_of(row: rows.Row) -> tuple[str, ...]:
    """What ``COLUMNS`` hold of a record, by its ``RECORD_COLUMNS``."""
    try:
        record: MemoryRecord = rows.to_record(row)
    except StorageCorrupt:
        return WORDLESS
    return indexed_columns(record)
