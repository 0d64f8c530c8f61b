"""Finds every row that a damaged database still holds, page by page, first those to which a table's tree leads.

The table of other rows is found by their shape, with today's schema.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import apsw
import attrs

from kiro_learn.adapters.sqlite.mending.trees import (
    INDEX_LEAF,
    INDEX_NODE,
    TABLE_LEAF,
    TABLE_NODE,
    Cell,
    Missing,
    Pages,
    Value,
    Values,
    cells,
    children,
    freed,
    kind_of,
)

REBUILT_TABLES = frozenset({"graph_vectors", "model_embeddings", "_migrations"})
"""Tables that are made again from other tables, or with the new database."""
REBUILT_COLUMNS = frozenset({"embedding", "passage_codes"})
"""Columns of vectors. The daemon makes missing vectors again."""

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
    """Whether the column is NOT NULL."""
    is_rowid: bool
    """Whether the column is the row's number, so that the record has NULL in it."""

    def fits(self, value: Value) -> bool:
        """Whether the column could hold the value."""
        if self.is_rowid:
            return value is None
        if self.name in REBUILT_COLUMNS:
            return True
        return not self.is_needed if value is None else isinstance(value, self.kinds)


@attrs.frozen
class Table:
    """One table, with its columns in the order of its records."""

    name: str
    is_by_key: bool
    """Whether it is WITHOUT ROWID, so that its rows are in the tree of an index."""
    columns: tuple[Column, ...]

    def fits(self, values: Values) -> bool:
        """Whether a record could be one of the table. Older records lack columns that were added since."""
        count = len(values)
        if not count or count > len(self.columns) or any(each.is_needed for each in self.columns[count:]):
            return False
        return all(column.fits(value) for column, value in zip(self.columns, values, strict=False))

    def row(self, cell: Cell) -> tuple[Stored, ...]:
        """The values to store of a record that fits: its number first, and no vectors."""
        padded = (*cell.values, *(None for _ in self.columns[len(cell.values) :]))
        stored = (
            cell.rowid if column.is_rowid else None if column.name in REBUILT_COLUMNS else _there(value)
            for column, value in zip(self.columns, padded, strict=True)
        )
        return tuple(stored) if self.is_by_key else (cell.rowid, *stored)

    @property
    def insertion(self) -> str:
        """The statement that stores a ``row`` unless it exists. It keeps the row's number, so the order of arrival."""
        names = [*([] if self.is_by_key else ["rowid"]), *(column.name for column in self.columns)]
        places = ", ".join("?" for _ in names)
        return f"INSERT OR IGNORE INTO {self.name} ({', '.join(names)}) VALUES ({places})"  # noqa: S608  # names of our own schema


def tables_of(connection: apsw.Connection, but: frozenset[str] = REBUILT_TABLES) -> dict[str, Table]:
    """The tables to salvage, by name, without those in ``but``; first those that others refer to."""
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


SCHEMA = ("type", "name", "tbl_name", "rootpage", "sql")
_OBJECTS = {"table", "index", "view", "trigger"}


@attrs.frozen
class Root:
    """A table or an index, as the schema of the damaged database has it."""

    kind: str
    name: str
    table: str
    page: int
    sql: str


@attrs.frozen
class FoundRow:
    """A row that could be read, and its table, or the table that it fits."""

    table: Table
    cell: Cell
    is_certain: bool
    """Whether the table's tree leads to the row. Otherwise it may be a deleted row."""


class Remains:
    """The readable parts of a damaged database."""

    def __init__(self, pages: Pages, tables: Mapping[str, Table]) -> None:
        self._pages = pages
        self._tables = tables
        self._kinds = {number: self._kind(number) for number in range(1, pages.count + 1)}
        self.unreadable: set[int] = set()
        """The pages of trees that cannot be read."""
        self._leaves: dict[int, tuple[Root | None, int]] = {}
        """The pages with entries in trees: for each, the tree's root and the kind as which the page is read."""
        for number, kind in self._walk(1, TABLE_LEAF):
            self._leaves[number] = (None, kind)
        self.roots = self._roots()
        for root in self.roots:
            leaf = INDEX_LEAF if root.kind == "index" or self._is_by_key(root.name) else TABLE_LEAF
            for number, kind in self._walk(root.page, leaf):
                self._leaves.setdefault(number, (root, kind))

    def rows(self) -> Iterator[FoundRow]:
        """All rows, the certain ones first."""
        for number, (root, kind) in self._leaves.items():
            table = self._tables.get(root.name) if root is not None and root.kind == "table" else None
            if table is not None:
                yield from self._rows_of(table, number, kind)
        given_up = freed(self._pages)
        for number, kind in self._kinds.items():
            if kind and number not in self._leaves and number not in given_up:
                yield from self._rows_by_shape(number, kind)

    def entries(self, table: str) -> Iterator[tuple[Root, Cell]]:
        """The entries of all indexes of a table. The last value of each is the number of a row."""
        for number, (root, kind) in self._leaves.items():
            if root is not None and root.kind == "index" and root.table == table:
                yield from ((root, cell) for cell in cells(self._pages, number, kind))

    def sequences(self) -> dict[str, int]:
        """The last row number that each table gave."""
        found: dict[str, int] = {}
        for number, (root, kind) in self._leaves.items():
            if root is not None and root.name == "sqlite_sequence":
                for cell in cells(self._pages, number, kind):
                    match cell.values:
                        case (str(name), int(last)):
                            found[name] = last
        return found

    def _rows_of(self, table: Table, number: int, kind: int) -> Iterator[FoundRow]:
        for cell in cells(self._pages, number, kind):
            if table.fits(cell.values):
                yield FoundRow(table, cell, is_certain=True)
            else:  # a damaged node may lead to a page of another table
                yield from self._by_shape(cell, kind)

    def _rows_by_shape(self, number: int, kind: int) -> Iterator[FoundRow]:
        if kind != TABLE_NODE:
            for cell in cells(self._pages, number, kind):
                yield from self._by_shape(cell, kind)

    def _by_shape(self, cell: Cell, kind: int) -> Iterator[FoundRow]:
        candidates = (each for each in self._tables.values() if each.is_by_key == (kind != TABLE_LEAF))
        table = table_for(cell.values, candidates)
        if table is not None:
            yield FoundRow(table, cell, is_certain=False)

    def _kind(self, number: int) -> int:
        page = self._pages.read(number)
        return 0 if page is None else kind_of(page, is_first=number == 1)

    def _walk(self, root: int, leaf: int) -> Iterator[tuple[int, int]]:
        """The pages of a tree that have entries. A page whose kind is damaged counts as a leaf."""
        node = TABLE_NODE if leaf == TABLE_LEAF else INDEX_NODE
        waiting, seen = [root], set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen or number in self._leaves:
                continue
            seen.add(number)
            page = self._pages.read(number)
            if page is None:
                self.unreadable.add(number)
                continue
            kind = self._kinds[number]
            if kind == node:
                waiting += children(page, is_first=number == 1)
            if kind != TABLE_NODE:
                yield number, kind if kind == node else leaf

    def _roots(self) -> list[Root]:
        """The roots in the schema's tree; if that is damaged, in every page that looks like a part of it."""
        pages: Collection[int] = tuple(self._leaves)
        if self._kinds.get(1, 0) == 0 or self.unreadable:
            pages = [number for number, kind in self._kinds.items() if kind == TABLE_LEAF]
        found = {}
        for number in pages:
            for cell in cells(self._pages, number, TABLE_LEAF):
                match cell.values:
                    case (str(kind), str(name), str(table), int(page), str() | None as sql) if (
                        kind in _OBJECTS and 1 < page <= self._pages.count
                    ):
                        found[name] = Root(kind, name, table, page, sql or "")
        return list(found.values())

    def _is_by_key(self, name: str) -> bool:
        """Whether a table is WITHOUT ROWID: one of ours, or one that FTS5 made for an index of words."""
        table = self._tables.get(name)
        return table.is_by_key if table is not None else name.endswith(("_idx", "_config"))
