"""Write every moment one way (UTC, microseconds, ``Z``), so that text order is time order."""

from __future__ import annotations

from functools import partial

import apsw

from kiro_learn.adapters.sqlite.migrations.migration import Migration, MigrationContext, unreadable_row
from kiro_learn.model.moment import from_text, to_text

# As bytes, because SQLite keeps text that is no UTF-8, and the row has to be named all the same.
REWRITE = """
    UPDATE events
       SET valid_time = one_format('events', CAST(event_id AS BLOB), CAST(valid_time AS BLOB)),
           transaction_time = one_format('events', CAST(event_id AS BLOB), CAST(transaction_time AS BLOB));
    UPDATE memory_records
       SET created_at = one_format('memory_records', CAST(record_id AS BLOB), CAST(created_at AS BLOB));
"""


def _one_format(connection: apsw.Connection, table: str, owner: bytes, moment: bytes) -> str:
    text = moment.decode("utf-8", "replace")
    try:
        return to_text(from_text(text))
    except ValueError as error:
        problem = f"has the time {text!r}, which is none"
        raise unreadable_row(connection, table, owner.decode("utf-8", "replace"), problem) from error


def _rewrite(connection: apsw.Connection, _context: MigrationContext) -> None:
    connection.create_scalar_function("one_format", partial(_one_format, connection), 3, deterministic=True)
    try:
        connection.execute(REWRITE)
    finally:
        connection.create_scalar_function("one_format", None, 3)


MIGRATION = Migration(7, "one_time_format", _rewrite)
