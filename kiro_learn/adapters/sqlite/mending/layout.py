"""Which tables today's schema has, and which of them a row could be of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import apsw
import attrs

from kiro_learn.adapters.sqlite.mending.trees import Cell, Missing, Value, Values

REBUILT_TABLES = frozenset({"graph_vectors", "model_embeddings", "_migrations"})
"""What is made again from the other tables, or with the new database."""
REBUILT_COLUMNS = frozenset({"embedding", "passage_codes"})
"""Vectors: where they are empty, they are made again."""

ORDINARY = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(:table) ORDER BY cid'

Stored: TypeAlias = int | float | str | bytes | None

_KINDS: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float), "BLOB": (bytes,)}


@attrs.frozen
class Column:
    """One column of a table."""

    name: str
    kinds: tuple[type, ...]
    is_needed: bool
    """NULL may not stand in it."""
    is_rowid: bool
    """The row's number stands for it: the record has NULL there."""

    def fits(self, value: Value) -> bool:
        """Whether the value could stand in it."""
        if self.is_rowid:
            return value is None
        if self.name in REBUILT_COLUMNS:
            return True
        return not self.is_needed if value is None else isinstance(value, self.kinds)


@attrs.frozen
class Table:
    """One table, with its columns in the order in which its records have them."""

    name: str
    is_by_key: bool
    """WITHOUT ROWID: its rows stand in a tree of an index."""
    columns: tuple[Column, ...]

    def fits(self, values: Values) -> bool:
        """Whether a record could be of it. Columns that were added since are missing in older records."""
        count = len(values)
        if not count or count > len(self.columns) or any(each.is_needed for each in self.columns[count:]):
            return False
        return all(column.fits(value) for column, value in zip(self.columns, values, strict=False))

    def row(self, cell: Cell) -> tuple[Stored, ...]:
        """What is to be stored of a record that fits: its number first, and no vectors."""
        padded = (*cell.values, *(None for _ in self.columns[len(cell.values) :]))
        stored = (
            cell.rowid if column.is_rowid else None if column.name in REBUILT_COLUMNS else _there(value)
            for column, value in zip(self.columns, padded, strict=True)
        )
        return tuple(stored) if self.is_by_key else (cell.rowid, *stored)

    @property
    def insertion(self) -> str:
        """The statement that stores such a row, unless it is there already. The order of rows is that of arrival."""
        names = [*([] if self.is_by_key else ["rowid"]), *(column.name for column in self.columns)]
        places = ", ".join("?" for _ in names)
        return f"INSERT OR IGNORE INTO {self.name} ({', '.join(names)}) VALUES ({places})"  # noqa: S608  # names of our own schema


def tables_of(connection: apsw.Connection, but: frozenset[str] = REBUILT_TABLES) -> dict[str, Table]:
    """Those that are to be salvaged, by name, ``but`` those; those that others refer to first."""
    found: dict[str, Table] = {}
    ordinary: list[Any] = connection.execute(ORDINARY).fetchall()
    for name, is_by_key in ordinary:
        if name not in but:
            found[name] = Table(name, bool(is_by_key), _columns(connection, name, is_by_key=bool(is_by_key)))
    first = ("namespaces", "embedding_models", "events", "replacements", "graph_entities")
    return {name: found[name] for name in (*first, *sorted(found.keys() - set(first)))}


def table_for(values: Values, tables: Iterable[Table]) -> Table | None:
    """The first table that a record could be of; None if there is none."""
    return next((table for table in tables if table.fits(values)), None)


def _columns(connection: apsw.Connection, table: str, *, is_by_key: bool) -> tuple[Column, ...]:
    rows: list[Any] = connection.execute(COLUMNS, {"table": table}).fetchall()
    keys = sorted((row for row in rows if row[3]), key=lambda row: row[3])
    is_numbered = not is_by_key and len(keys) == 1 and keys[0][1] == "INTEGER"
    # Records of a table WITHOUT ROWID begin with its key.
    ordered = [*keys, *(row for row in rows if not row[3])] if is_by_key else rows
    return tuple(
        Column(name, _KINDS[kind], bool(is_needed or (key and is_by_key)), bool(key and is_numbered))
        for name, kind, is_needed, key in ordered
    )


def _there(value: Value) -> int | float | str | bytes | None:
    assert not isinstance(value, Missing), "a record that fits has all its values"
    return value
