"""Opens the database's file privately, sets connections up, and owns the pool of those that only read.

It also makes methods of the store from queries, and methods of a transaction from steps.

WAL: readers never wait for the writer. FULL: an acknowledged commit survives a power cut, for one fsync per commit.
Deleted content is overwritten, and no content goes into temporary files. A read-only connection serves one query at a
time.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

import apsw
import trio

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, map_errors
from kiro_learn.errors import StorageUnavailable
from kiro_learn.ports.storage.answers import Change

PRIVATE = 0o600
PAGES_BETWEEN_CHECKPOINTS = 1000
JOURNAL_BYTES = 16 * 1024 * 1024
"""The size to which the write-ahead log is cut once a checkpoint has emptied it."""


def make_private(path: Path) -> None:
    """Make the file ``path`` if it is missing, and let only its owner use it. SQLite gives its log the same mode.

    Raises:
      StorageUnavailable: ``path`` is a symbolic link or no file, or cannot be made.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE))
    except FileExistsError:
        _refuse_what_is_no_file(path)
        for sibling in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            _close_to_others(sibling)
    except OSError as error:
        raise StorageUnavailable(path, hint=f"Is the folder there, and writable? {error.strerror}.") from error


def _refuse_what_is_no_file(path: Path) -> None:
    """Raise StorageUnavailable for a link or a folder. It is not opened: a close would drop locks of this process."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise StorageUnavailable(path, hint="It is a symbolic link: put the file itself there.")
    if not stat.S_ISREG(mode):
        raise StorageUnavailable(path, hint="It is not a file.")


def _close_to_others(path: Path) -> None:
    try:
        if stat.S_IMODE(path.lstat().st_mode) != PRIVATE and not path.is_symlink():
            path.chmod(PRIVATE)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageUnavailable(path, hint="It belongs to another user.") from error


def open_writer(path: Path, *, busy_seconds: float) -> apsw.Connection:
    """The one connection that writes. It has changed nothing yet: the schema's history decides whether it may."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def settle(writer: apsw.Connection) -> None:
    """Set up the writer after migrations. Foreign keys are off before, since a migration may rebuild tables."""
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS}")
    writer.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
    keep_references(writer)


def keep_references(writer: apsw.Connection) -> None:
    """What hangs on a row goes with it, and nothing refers to what is not there."""
    writer.execute("PRAGMA foreign_keys = ON")


@contextlib.contextmanager
def written(writer: apsw.Connection) -> Iterator[None]:
    """Commit all that the block writes, or nothing."""
    writer.execute("BEGIN IMMEDIATE")
    try:
        yield
        writer.execute("COMMIT")
    finally:
        if writer.in_transaction:
            writer.execute("ROLLBACK")


def open_reader(path: Path, *, busy_seconds: float) -> apsw.Connection:
    """A connection that cannot write. It has read the schema already, which the first prompt need not wait for."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection


T = TypeVar("T")
P = ParamSpec("P")

BUSY_SECONDS = 5.0
"""How long a connection outside of the pool waits for a lock."""

STEPS_BETWEEN_CANCEL_CHECKS = 1000
"""Steps of SQLite's virtual machine between two checks: some tens of microseconds."""


class Readers:
    """Owns the read-only connections. A reader waits for a free one, in order of arrival."""

    def __init__(self, path: Path, connections: Sequence[apsw.Connection]) -> None:
        self._path = path
        self._count = len(connections)
        self._limiter = trio.CapacityLimiter(math.inf)  # each connection that is lent has its thread
        self._give_back, self._free = trio.open_memory_channel[apsw.Connection](self._count)
        for connection in connections:
            self._give_back.send_nowait(connection)
        self._is_closed = False

    async def read(self, query: Callable[[apsw.Connection], T]) -> T:
        """Run ``query`` in a thread, on one state of the database.

        Cancellation: the caller goes on at once, and the query is interrupted. While SQLite waits for a lock or a disk,
        it cannot be interrupted: its thread keeps the connection, and the other connections serve the next readers.
        """
        loan = Loan(await self._borrow())
        token = trio.lowlevel.current_trio_token()
        try:
            return await trio.to_thread.run_sync(
                self._run_on_loan, query, loan, token, limiter=self._limiter, abandon_on_cancel=True
            )
        except trio.Cancelled:
            loan.stop()
            raise
        finally:
            if loan.claim():  # cancelled before the thread began
                self._give_back.send_nowait(loan.connection)

    async def open_another(self) -> tuple[Path, apsw.Connection]:
        """The file, and a further connection, which sees one state of the database until its caller closes it."""
        if self._is_closed:
            raise StorageUnavailable(self._path, hint="It was closed.")
        return self._path, await trio.to_thread.run_sync(_open_another, self._path)

    async def close(self) -> None:
        """Wait for the queries under way, then close. A second close does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        for _ in range(self._count):
            connection = await self._free.receive()
            connection.close()
        self._free.close()

    async def _borrow(self) -> apsw.Connection:
        if not self._is_closed:
            try:
                return await self._free.receive()
            except trio.ClosedResourceError:  # it was closed while we waited
                pass
        raise StorageUnavailable(self._path, hint="It was closed.")

    def _run_on_loan(self, query: Callable[[apsw.Connection], T], loan: Loan, token: trio.lowlevel.TrioToken) -> T:
        """In the thread: ``query``'s answer. Gives the connection back, even if the caller was cancelled."""
        if not loan.claim():
            raise StorageUnavailable(self._path, hint="The query was cancelled before it began.")  # the caller is gone
        try:
            return self._answer(loan, query)
        finally:
            with contextlib.suppress(trio.RunFinishedError):  # the daemon has ended meanwhile
                token.run_sync_soon(self._give_back.send_nowait, loan.connection)

    def _answer(self, loan: Loan, query: Callable[[apsw.Connection], T]) -> T:
        """In the thread: ``query``'s answer on the connection of ``loan``."""
        return run_query(self._path, loan.connection, query, stop_if_cancelled)


def run_query(
    path: Path,
    connection: apsw.Connection,
    query: Callable[[apsw.Connection], T],
    interrupted: Callable[[], bool] | None = None,
) -> T:
    """``query``'s answer from one state of the database. ``interrupted`` is called all the time, and may raise."""
    with map_errors(path):
        if connection.in_transaction:  # the last transaction could not be ended, for example on a full disk
            connection.execute("ROLLBACK")
        connection.execute("BEGIN")
        connection.set_progress_handler(interrupted, STEPS_BETWEEN_CANCEL_CHECKS)
        cursors: list[apsw.Cursor] = []
        connection.cursor_factory = partial(_noted, cursors)
        try:
            return query(connection)
        finally:
            # A query may stop before its last row. An open cursor would keep the connection, and so its next query,
            # at this snapshot of the database.
            connection.cursor_factory = apsw.Cursor
            for cursor in cursors:
                cursor.close(force=True)
            connection.set_progress_handler(None)  # a cancelled COMMIT would leave the transaction open
            _end_transaction(connection)


def _open_another(path: Path) -> apsw.Connection:
    with map_errors(path):
        connection = open_reader(path, busy_seconds=BUSY_SECONDS)
        connection.execute("BEGIN")
        connection.execute(statements.NAMESPACE_NUMBERS).fetchall()  # the first read decides which state is seen
        return connection


def _end_transaction(connection: apsw.Connection) -> None:
    """Commit, since a query changes nothing that would have to be undone.

    FTS5 may report a missing table of its own once more at the commit. That must not cost the query's answer.
    """
    if connection.in_transaction:
        with contextlib.suppress(apsw.CorruptError):
            connection.execute("COMMIT")


class Loan:
    """A lent connection. Either the thread claims it, or its owner takes it back before the thread has begun."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._unclaimed = threading.Lock()
        self.stop: Callable[[], None] = _nothing
        """Called when the caller is cancelled, to stop a query that does not notice it by itself."""

    def claim(self) -> bool:
        """True for the first caller, which must give the connection back."""
        return self._unclaimed.acquire(blocking=False)


def _nothing() -> None:
    """Do nothing: SQLite calls ``stop_if_cancelled`` while it works."""


def stop_if_cancelled() -> bool:
    """Raise trio.Cancelled in the thread; apsw interrupts the statement and hands the exception on."""
    trio.from_thread.check_cancelled()
    return False


def _noted(cursors: list[apsw.Cursor], connection: apsw.Connection) -> apsw.Cursor:
    """A cursor of ``connection``, entered in ``cursors``."""
    cursor = apsw.Cursor(connection)
    cursors.append(cursor)
    return cursor


class Readable(Protocol):
    """The attributes of a store that the methods of ``reading`` and ``reading_sound`` need."""

    readers: Readers
    damaged: DamagedRows


Reading: TypeAlias = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
"""A method of a ``Readable``: takes a query's parameters without the connection, and gives its answer."""


def reading(query: Callable[Concatenate[apsw.Connection, P], T]) -> Reading[P, T]:
    """A method that runs ``query`` on a reader and returns its answer."""

    async def method(store: Readable, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store.readers.read(lambda connection: query(connection, *args, **kwargs))

    return method


def reading_sound(query: Callable[Concatenate[apsw.Connection, DamagedRows, P], T]) -> Reading[P, T]:
    """As ``reading``, for a ``query`` that leaves out damaged rows and notes them."""

    async def method(store: Readable, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store.readers.read(lambda connection: query(connection, store.damaged, *args, **kwargs))

    return method


class Writable(Protocol):
    """The attributes of a transaction that the methods of ``in_transaction`` and ``changing`` need."""

    connection: apsw.Connection
    changes: list[Change]


Writing: TypeAlias = Callable[Concatenate[Any, P], T]
"""A method of a ``Writable``: takes a step's parameters without the connection, and gives its answer."""


def in_transaction(step: Callable[Concatenate[apsw.Connection, P], T]) -> Writing[P, T]:
    """A method that runs ``step``, which changes nothing that listeners follow."""

    def method(transaction: Writable, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return step(transaction.connection, *args, **kwargs)

    return method


def changing(step: Callable[Concatenate[apsw.Connection, P], Iterable[Change]]) -> Writing[P, None]:
    """A method that runs ``step``, and notes the changes that it returns."""

    def method(transaction: Writable, /, *args: P.args, **kwargs: P.kwargs) -> None:
        transaction.changes += step(transaction.connection, *args, **kwargs)

    return method
