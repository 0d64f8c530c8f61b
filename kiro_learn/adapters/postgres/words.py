"""Searches words with FTS5 in the daemon's memory, so that results are ranked as on SQLite.

The mirror is an SQLite database in memory. It holds one index of words for each project that was searched, one for the
graph, and nothing else. The first search fills an index from PostgreSQL's tables; later searches read only what changed
since. Triggers list the changes in ``words_changed``.

Rules of this file: the mirror is used with ``lock`` held. The asker's transaction sends its first statement after it
took the lock, so that it never sees an earlier state than the mirror has.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import apsw

from kiro_learn.adapters.sqlite import graph_statements, index_statements, record_statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.word_reads import begin, texts_of
from kiro_learn.model.record import COLUMNS

if TYPE_CHECKING:
    from kiro_learn.adapters.postgres.connection import PostgresConnection

NUMBER_BITS = 32

DAYS_KEPT = 7
"""How long the database keeps the notes of what each commit changed."""
SAFE_SECONDS = (DAYS_KEPT - 1) * 86_400.0
"""A daemon that read no commits for so long must read again all that it keeps of the database in its memory."""

_ABOUT_WORDS = re.compile(r"\w_fts\b|records_fts_|vocabulary_\d|(?:SAVEPOINT|RELEASE) words")
_PROJECT = re.compile(r"(?:records_fts|vocabulary)_(\d+)")
_MATCHED = re.compile(r"\b(\w{1,60}+) MATCH :expression")
_SCORE = re.compile(r"bm25\([^()]{1,200}\)")

_GRAPH = {graph_statements.TABLES[kind]: tuple(columns) for kind, columns in graph_statements.SEARCHED.items()}
_CREATE_GRAPH = """
    CREATE VIRTUAL TABLE {table}_fts USING fts5 (
        {columns}, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    )
"""
_LAST_CHANGE = "SELECT coalesce(max(place), 0) FROM words_changed"
_CHANGES = "SELECT place, kind, number FROM words_changed WHERE place > :seen ORDER BY place"
_RECORDS_OF = f"""
    SELECT r.number, {record_statements.RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
"""  # noqa: S608  # our own constant


def is_about_words(statement: str) -> bool:
    return _ABOUT_WORDS.search(statement) is not None


class WordMirror:
    """Owns the indexes of words, which all readers share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection = apsw.Connection(":memory:")
        self._seen: int | None = None
        """The last place in ``words_changed`` that the mirror took in; None while the mirror is empty."""
        self._projects: set[int] = set()
        self._has_graph = False
        self._caught_up_at = time.time()  # this clock goes on while the computer sleeps

    def execute(self, asker: PostgresConnection, statement: str, values: Mapping[str, Any]) -> Any:
        """The answer to a statement about words, for the state that ``catch_up`` took in."""
        project = _PROJECT.search(statement)
        if project is None:
            self._fill_graph(asker)
        else:
            self._fill_project(asker, int(project[1]))
        matched = _MATCHED.search(statement)
        if matched is None or " JOIN " not in statement:
            return self.connection.execute(statement, dict(values))
        table, scored = matched[1], _SCORE.search(statement)
        score = scored[0] if scored else "0.0"
        finding = f"SELECT rowid, {score} FROM {table} WHERE {table} MATCH :expression"  # noqa: S608  # our own names
        found = self.connection.execute(finding, {"expression": values["expression"]}).fetchall()
        numbers = ",".join(str(number) for number, _ in found)
        scores = ",".join(repr(score) for _, score in found)
        return asker.ask(statement, {**values, "found": f"{{{numbers}}}", "scores": f"{{{scores}}}"})

    def catch_up(self, asker: PostgresConnection) -> None:
        """Take in all changes that ``asker`` sees. Comes first in each transaction of ``asker``."""
        if time.time() - self._caught_up_at > SAFE_SECONDS:
            self._empty()
        self._caught_up_at = time.time()
        if self._seen is None:
            self._seen = int(asker.execute(_LAST_CHANGE).get)
            return
        last = self._seen
        changed: defaultdict[str, set[int]] = defaultdict(set)
        for place, kind, number in asker.execute(_CHANGES, {"seen": self._seen}).fetchall():
            last = place
            changed[kind].add(number)
        for kind, numbers in changed.items():
            if kind == "memory_records":
                self._put_records(asker, {each for each in numbers if each >> NUMBER_BITS in self._projects})
            elif self._has_graph:
                self._put_items(asker, kind, numbers)
        self._seen = last  # only now: an interrupted search leaves the changes to the next one

    def _empty(self) -> None:
        """Begin anew: the database no longer knows all that changed."""
        self.connection.close()
        self.connection = apsw.Connection(":memory:")
        self._seen, self._projects, self._has_graph = None, set(), False

    def _fill_project(self, asker: PostgresConnection, number: int) -> None:
        if number in self._projects:
            return
        records = asker.execute(f"{_RECORDS_OF} WHERE r.namespace_number = :number ORDER BY 1", {"number": number})
        with self.connection:  # a half-filled index is rolled back
            self.connection.execute(for_namespace(index_statements.CREATE_INDEX, number))
            self._enter(records)
            begin(self.connection, number)
        self._projects.add(number)

    def _put_records(self, asker: PostgresConnection, numbers: set[int]) -> None:
        for number in numbers:
            deleting = for_namespace(index_statements.DELETE_WORDS, number >> NUMBER_BITS)
            self.connection.execute(deleting, {"number": number})
        among = f"{_RECORDS_OF} JOIN json_numbers(:numbers) AS asked ON r.number = asked.value ORDER BY 1"
        self._enter(asker.execute(among, {"numbers": json.dumps(sorted(numbers))}) if numbers else ())

    def _enter(self, rows: Iterable[tuple[Any, ...]]) -> None:
        with self.connection:
            for number, *row in rows:
                values = dict(zip(COLUMNS, texts_of(tuple(row)), strict=True))
                putting = for_namespace(index_statements.PUT_WORDS, number >> NUMBER_BITS)
                self.connection.execute(putting, {"number": number, **values})

    def _fill_graph(self, asker: PostgresConnection) -> None:
        if self._has_graph:
            return
        with self.connection:
            for table, columns in _GRAPH.items():
                self.connection.execute(_CREATE_GRAPH.format(table=table, columns=", ".join(columns)))
                self._enter_items(table, asker.execute(_items_of(table)))
        self._has_graph = True

    def _put_items(self, asker: PostgresConnection, table: str, numbers: set[int]) -> None:
        for number in numbers:
            self.connection.execute(f"DELETE FROM {table}_fts WHERE rowid = ?", (number,))  # noqa: S608  # our own name
        among = f"{_items_of(table)} JOIN json_numbers(:numbers) AS asked ON asked.value = i.seq"
        self._enter_items(table, asker.execute(among, {"numbers": json.dumps(sorted(numbers))}))

    def _enter_items(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        columns = ("rowid", *_GRAPH[table])
        marks = ", ".join("?" * len(columns))
        with self.connection:
            self.connection.executemany(
                f"INSERT INTO {table}_fts ({', '.join(columns)}) VALUES ({marks})",  # noqa: S608  # our own names
                rows,
            )


def _items_of(table: str) -> str:
    columns = ", ".join(f"i.{column}" for column in ("seq", *_GRAPH[table]))
    return f"SELECT {columns} FROM {table} AS i"  # noqa: S608  # our own names
