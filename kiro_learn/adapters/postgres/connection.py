"""A connection to PostgreSQL with apsw's interface, so that the queries and writes of the SQLite store serve both.

They use these parts of apsw: ``execute`` with named values, an answer that is iterated or asked for its first row,
``executemany``, ``changes``, ``in_transaction``. A query is sent when its answer is asked for. An answer that is
iterated is fetched part by part, since its reader may stop before the end.
Values are quoted by psycopg and put into the text of a statement, so that the server knows the type of each.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import apsw
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.types.string import StrDumper

from kiro_learn.adapters.postgres.dialect import translated
from kiro_learn.adapters.postgres.words import WordMirror, is_about_words
from kiro_learn.errors import StorageBusy, StorageError, StorageUnavailable

ROWS_AT_ONCE = 200
"""The rows that are fetched at once while an answer is iterated, and the statements that are sent in one message."""

FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0
"""Seconds between two attempts to reach the server."""

SECONDS_BETWEEN_CANCELS = 0.02

AWAY = "cannot be reached"
READ_ONLY_HINT = "It is a standby, or the server, the database or the role says default_transaction_read_only."

IN_USE, WRITES, TURNS = 7_161_553, 7_161_554, 7_161_555
"""Kinds of advisory locks: who uses the database, which transaction writes, whose turn it is (others.py)."""

SCHEMA = "kiro_learn"
"""The name of the one schema that holds all tables and the functions that the statements use."""

MARK = "\ufdd0"
"""A code point that is no character. PostgreSQL takes no U+0000 in a text: the mark and U+FDD2 are stored for it. For a
mark that was in the text, the mark and U+FDD1 are stored (also in ``functions.sql``)."""

_MARK_BYTES = MARK.encode()

Values = Mapping[str, Any]

_QUESTION = re.compile(r"\s*(?:SELECT|WITH)\b")
_READS = re.compile(r"\s*(?:SELECT|DECLARE|FETCH)\b")
_HELD_BACK = re.compile(r"(?:BEGIN|SAVEPOINT|RELEASE)\b")
"""Statements without an answer. They are sent with the next one: alone they would double a small write's cost."""


class RowRefused(apsw.ConstraintError):
    """The server does not take a row. A subclass of apsw's error, which the code that both stores share catches."""


class _IntDumper(Dumper):
    """Sends each number as 64 bits: the server would compute a small one in 32."""

    def dump(self, obj: int) -> bytes:
        return b"%d" % obj

    def quote(self, obj: int) -> bytes:
        return b"'%d'::bigint" % obj


class _TextDumper(StrDumper):
    """Sends each text as type text, so that the server need not guess which function is meant."""

    def quote(self, obj: str) -> bytes:
        return bytes(super().quote(_kept(obj))) + b"::text"


def _kept(text: str) -> str:
    return text.replace(MARK, MARK + "\ufdd1").replace("\0", MARK + "\ufdd2")


def _as_it_was(text: str) -> str:
    return text.replace(MARK + "\ufdd2", "\0").replace(MARK + "\ufdd1", MARK) if MARK in text else text


class _TextLoader(Loader):
    def load(self, data: Any) -> str:
        return _as_it_was(bytes(data).decode())


class _BytesLoader(Loader):
    """Reads a varchar as bytes. No column is one: a statement casts a text to it to ask for the text's bytes."""

    def load(self, data: Any) -> bytes:
        body = bytes(data)
        return _as_it_was(body.decode()).encode() if _MARK_BYTES in body else body


class _SumLoader(Loader):
    """Reads a sum of whole numbers, which PostgreSQL sends as numeric, as a whole number."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


class Server:
    """Where the database is, and how connections to it are made."""

    setting = "storage.url"
    meanwhile = "hooks keep events in the spool"  # while it is away

    def __init__(self, url: str, *, lock_seconds: float) -> None:
        """Raises StorageError: ``url`` is not PostgreSQL's."""
        self._url = url
        self._lock_seconds = lock_seconds
        try:
            said = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            hint = f"PostgreSQL's client says: {str(error).strip()}"
            raise StorageError(f"the setting {self.setting} is not understood", hint=hint) from error
        self.name = f"{said.get('dbname', '')} of PostgreSQL at {said.get('host', 'localhost')}"
        """The database's name as people are shown it: without user and password."""
        self._away: str | None = None
        """The hint of the last attempt to connect, if that failed."""
        self._wait = FIRST_WAIT
        self._next_try = 0.0

    def connect(self) -> psycopg.Connection[Any]:
        """Raises StorageUnavailable: the server is away, or was at the last attempt; attempts become ever rarer."""
        if self._away is not None and time.monotonic() < self._next_try:
            # A new error each time: one that is raised again keeps the tracebacks, and so the values, of all raises.
            raise StorageUnavailable(self.name, problem=AWAY, hint=self._away)
        try:
            raw = self._connect()
        except StorageUnavailable as error:
            self._away = error.hint
            self._next_try = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)
            raise
        self._away, self._wait = None, FIRST_WAIT
        return raw

    def _connect(self) -> psycopg.Connection[Any]:
        with errors_named(self):
            raw = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=3,
                keepalives_idle=10,  # a server that vanished is noticed within half a minute
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=20_000,
                application_name="kiro-learn",
                client_encoding="UTF8",
                cursor_factory=psycopg.ClientCursor,
                # The server too notices within half a minute that this daemon is gone, and releases its locks.
                options="-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
                f" -c lock_timeout={max(1, round(self._lock_seconds * 1000))}"
                f" -c client_min_messages=warning -c search_path={SCHEMA}",
            )
        raw.adapters.register_dumper(int, _IntDumper)
        raw.adapters.register_dumper(str, _TextDumper)
        raw.adapters.register_loader("numeric", _SumLoader)
        raw.adapters.register_loader("text", _TextLoader)
        raw.adapters.register_loader("varchar", _BytesLoader)
        return raw


class Answer:
    """The answer to one statement, with the interface of apsw.Cursor."""

    def __init__(
        self,
        connection: PostgresConnection,
        query: str,
        values: Values | None,
        rows: Iterable[tuple[Any, ...]] | None = None,
    ) -> None:
        """``rows``: the answer, where the server is not asked."""
        self._connection = connection
        self._query = query
        self._values = values or {}
        self._rows = None if rows is None else iter(rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if self._rows is None:
            self._rows = self._connection.rows_by_part(self._query, self._values)
        return self._rows

    def __next__(self) -> tuple[Any, ...]:
        return next(iter(self))

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._at_once(), None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._at_once())

    @property
    def get(self) -> Any:
        """The first row, or its value if it has one column."""
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row

    def _at_once(self) -> Iterator[tuple[Any, ...]]:
        if self._rows is None:
            self._rows = iter(self._connection.run(self._query, self._values))
        return self._rows

    def run(self) -> Answer:
        self._at_once()
        return self


class PostgresConnection:
    """One connection, made when it is needed and made again when the server went away."""

    def __init__(self, server: Server, words: WordMirror | None) -> None:
        """``words``: answers statements about the index of words; None for the writer, which ignores those."""
        self.server = server
        self.words = words
        self.raw: psycopg.Connection[Any] | None = None
        self._held: list[str] = []
        self._changes = 0
        self._statements = 0
        self._ended = threading.Event()
        """Set when the transaction under way has ended."""
        self._is_ending = False
        """Whether a transaction was rolled back and the server's answer to that is not read yet."""
        self._busy = threading.Lock()
        self._names = itertools.count()

    def execute(self, statement: str, values: Values | None = None) -> Any:
        if is_about_words(statement):
            return Answer(self, "", {}, ()) if self.words is None else self.words.execute(self, statement, values or {})
        if _HELD_BACK.match(statement):
            self._held.append(translated(statement))
            return Answer(self, "", {}, ())
        return self.ask(statement, values)

    def ask(self, statement: str, values: Values | None = None) -> Answer:
        """The server's answer to ``statement``. Only a SELECT waits until its answer is asked for."""
        answer = Answer(self, translated(statement), values)
        return answer if _QUESTION.match(statement) else answer.run()

    def executemany(self, statement: str, values: Iterable[Values]) -> None:
        """Send ``statement`` with each of ``values``, many in one message."""
        if is_about_words(statement):
            return
        query, rest = translated(statement), iter(values)
        while part := list(itertools.islice(rest, ROWS_AT_ONCE)):
            with errors_named(self.server):
                cursor = psycopg.ClientCursor(self._open())
                whole = "; ".join(cursor.mogrify(query, each) for each in part)
            self.run(whole)

    def changes(self) -> int:
        """The number of rows that the last statement wrote."""
        return self._changes

    def total_changes(self) -> int:
        """Grows with each statement that may write, whether it wrote anything or not."""
        return self._statements

    @property
    def in_transaction(self) -> bool:
        raw = self.raw
        idle = psycopg.pq.TransactionStatus.IDLE
        return bool(self._held) or (raw is not None and not raw.closed and raw.info.transaction_status != idle)

    def fts5_tokenizer(self, name: str, arguments: list[str]) -> Any:
        assert self.words is not None, "only readers tokenize"
        return self.words.connection.fts5_tokenizer(name, arguments)

    def run(self, query: str, values: Values | None = None) -> list[tuple[Any, ...]]:
        """All rows of the answer to ``query``, which is PostgreSQL's already.

        If it is the first of a transaction and the connection is lost, it is sent once more on a new connection.
        """
        held, self._held = self._held, []
        self._statements += _READS.match(query) is None
        whole = "; ".join((*held, query)).encode()
        may_try_again = self.raw is not None and held[:1] != [] and held[0].startswith("BEGIN")
        try:
            return self._send(whole, values)
        except StorageUnavailable:
            self.close()
            if not may_try_again:
                raise
        return self._send(whole, values)

    def _send(self, query: bytes, values: Values | None) -> list[tuple[Any, ...]]:
        with errors_named(self.server):
            raw = self._open()
            while self._is_ending:
                self._is_ending = raw.pgconn.get_result() is not None
            cursor = raw.cursor()
            cursor.execute(query, values)
            while cursor.nextset():
                pass
            self._changes = cursor.rowcount
            return cursor.fetchall() if cursor.description else []

    def rows_by_part(self, query: str, values: Values | None) -> Iterator[tuple[Any, ...]]:
        """The rows of ``run``, fetched while they are iterated. The transaction's end closes a half-read answer."""
        name = f"part_{next(self._names)}"
        rows = self.run(f"DECLARE {name} NO SCROLL CURSOR FOR {query}; FETCH {ROWS_AT_ONCE} FROM {name}", values)
        yield from rows
        while len(rows) == ROWS_AT_ONCE:
            rows = self.run(f"FETCH {ROWS_AT_ONCE} FROM {name}")
            yield from rows

    def begin(self, mode: str = "") -> threading.Event:
        """Let a transaction begin with the next statement; answers an event that is set when it has ended."""
        self._held = [f"BEGIN {mode}"]
        self._ended = threading.Event()
        return self._ended

    def end(self) -> None:
        """End the transaction if it is still open, and roll it back then."""
        with self._busy:
            self._ended.set()
        try:
            if self._held:  # no statement was sent
                self._held = []
            elif self.in_transaction and not self._is_ending:
                self._roll_back()
        except StorageError:
            self.close()
        if self.raw is not None and self.raw.closed:
            self.close()

    def _roll_back(self) -> None:
        """Send the command. Nothing depends on the server's answer, so the next statement reads it."""
        with errors_named(self.server):
            raw = self._open()
            raw.pgconn.send_query(b"ROLLBACK")
            raw.pgconn.flush()
        self._is_ending = True

    def cancel(self, ended: threading.Event) -> None:
        """Interrupt the server's work, from another thread, until the transaction has ended.

        Once is not enough: a query may still be on its way when the server gets the cancel request.
        """
        while not ended.wait(SECONDS_BETWEEN_CANCELS):
            with self._busy, contextlib.suppress(psycopg.Error):  # the server is away, and nobody waits for the answer
                if not ended.is_set() and self.raw is not None and not self.raw.closed:
                    self.raw.cancel_safe(timeout=2)

    def close(self, _force: bool = False) -> None:
        self._held, self._is_ending = [], False
        if self.raw is not None:
            self.raw.close()
            self.raw = None

    def _open(self) -> psycopg.Connection[Any]:
        if self.raw is None:
            self.raw = self.server.connect()
        return self.raw


@contextmanager
def errors_named(by: Server) -> Iterator[None]:
    """Raise psycopg's exceptions as ours, without their text, which may quote stored values."""
    try:
        yield
    except (psycopg.IntegrityError, psycopg.DataError) as error:
        kinds = {"ForeignKeyViolation": "FOREIGN KEY", "UniqueViolation": "UNIQUE"}
        raise RowRefused(kinds.get(type(error).__name__, type(error).__name__)) from error
    except (
        psycopg.errors.LockNotAvailable,
        psycopg.errors.QueryCanceled,
        psycopg.errors.SerializationFailure,
        psycopg.errors.DeadlockDetected,
    ) as error:
        raise StorageBusy(f"the database {by.name} is locked by another session ({type(error).__name__})") from error
    except (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        psycopg.errors.IdleInTransactionSessionTimeout,
    ) as error:
        raise StorageUnavailable(by.name, problem=AWAY, hint=_hint(by, error)) from error
    except psycopg.errors.InsufficientPrivilege as error:
        hint = f"PostgreSQL says: {error.diag.message_primary}"
        raise StorageError(f"the role may not use the database {by.name}", hint=hint) from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise StorageError(f"the database {by.name} takes no writes", hint=READ_ONLY_HINT) from error
    except psycopg.Error as error:
        raise StorageError(f"the database {by.name} failed ({type(error).__name__})") from error


def _hint(by: Server, error: Exception) -> str:
    said = str(error).strip().splitlines()
    return f"Until it is back, {by.meanwhile}. PostgreSQL says: {said[0] if said else 'nothing'}"
