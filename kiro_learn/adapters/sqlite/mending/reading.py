"""Every row that a damaged database still holds, page by page, those first whose tree leads to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import attrs

from kiro_learn.adapters.sqlite.mending.layout import Table, table_for
from kiro_learn.adapters.sqlite.mending.pages import Pages
from kiro_learn.adapters.sqlite.mending.trees import (
    INDEX_LEAF,
    INDEX_NODE,
    TABLE_LEAF,
    TABLE_NODE,
    Cell,
    cells,
    children,
    freed,
    kind_of,
)

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
    """A row that could be read, and the table that it is of, or looks as if."""

    table: Table
    cell: Cell
    is_certain: bool
    """The tree of its table leads to it. Else it may have been deleted before."""


class Remains:
    """What of a damaged database can be read."""

    def __init__(self, pages: Pages, tables: Mapping[str, Table]) -> None:
        self._pages = pages
        self._tables = tables
        self._kinds = {number: self._kind(number) for number in range(1, pages.count + 1)}
        self.unreadable: set[int] = set()
        """Pages that a tree names and that cannot be read."""
        self._leaves: dict[int, tuple[Root | None, int]] = {}
        """Pages with entries that a tree leads to, with the tree's root, and as what to read each."""
        for number, kind in self._walk(1, TABLE_LEAF):
            self._leaves[number] = (None, kind)
        self.roots = self._roots()
        for root in self.roots:
            leaf = INDEX_LEAF if root.kind == "index" or self._is_by_key(root.name) else TABLE_LEAF
            for number, kind in self._walk(root.page, leaf):
                self._leaves.setdefault(number, (root, kind))

    def rows(self) -> Iterator[FoundRow]:
        """All, the certain ones first."""
        for number, (root, kind) in self._leaves.items():
            table = self._tables.get(root.name) if root is not None and root.kind == "table" else None
            if table is not None:
                yield from self._rows_of(table, number, kind)
        given_up = freed(self._pages)
        for number, kind in self._kinds.items():
            if kind and number not in self._leaves and number not in given_up:
                yield from self._rows_by_shape(number, kind)

    def entries(self, table: str) -> Iterator[tuple[Root, Cell]]:
        """Of all indexes of a table; the last value of each is the number of a row."""
        for number, (root, kind) in self._leaves.items():
            if root is not None and root.kind == "index" and root.table == table:
                yield from ((root, cell) for cell in cells(self._pages, number, kind))

    def sequences(self) -> dict[str, int]:
        """The last number that each table gave."""
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
        """The pages of a tree that have entries; one whose sort is damaged counts as a leaf."""
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
        """From the schema's own tree; where that has lost something, from every page that looks like a part of it."""
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
        """Whether a table stands in a tree of an index: one of ours, or one of an index of words."""
        table = self._tables.get(name)
        return table.is_by_key if table is not None else name.endswith(("_idx", "_config"))
