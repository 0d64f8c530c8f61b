"""Queries about replaced records."""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.rows import Row, to_record, to_replacement
from kiro_learn.model.correction import Replacement
from kiro_learn.model.ids import RecordId


def list_replacements(
    connection: apsw.Connection, damaged: DamagedRows, record_id: RecordId
) -> tuple[Replacement, ...]:
    numbers: list[Row] = connection.execute(statements.REPLACEMENTS_BEFORE, {"record_id": record_id}).fetchall()
    return tuple(damaged.only_readable(numbers, lambda row: replacement_of(connection, row[0], damaged)))


def replacement_of(connection: apsw.Connection, number: int, damaged: DamagedRows) -> Replacement:
    """The replacement of this number, with the records that are still kept and can be read.

    Raises:
      DamagedRow: it cannot be read, or none of these records can.
    """
    values = {"replacement": number}
    replaced = connection.execute(statements.REPLACED_RECORDS, values)
    return to_replacement(
        connection.execute(statements.REPLACEMENT, values).get,
        replacing=replacing_in(connection, number),
        replaced=tuple(damaged.only_readable((tuple(row) for _number, *row in replaced), to_record)),
    )


def replacing_in(connection: apsw.Connection, number: int) -> tuple[RecordId, ...]:
    found = connection.execute(statements.REPLACING, {"replacement": number})
    return tuple(record_id for (record_id,) in found)


def came_with(connection: apsw.Connection, record_id: RecordId) -> int | None:
    """The number of the replacement that brought the record."""
    number: int | None = connection.execute(statements.CAME_WITH, {"record_id": record_id}).get
    return number


def first_gone(connection: apsw.Connection, number: int) -> tuple[RecordId, int] | None:
    """The first new record of a replacement that was replaced itself, and the number of that later replacement."""
    row = connection.execute(statements.FIRST_GONE, {"replacement": number}).fetchone()
    return None if row is None else (row[0], row[1])
