"""The read-only connections, lent to one query at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import apsw
import trio

from kiro_learn.errors import StorageUnavailable
from kiro_learn.storage.sqlite.errors import map_errors

T = TypeVar("T")

STEPS_BETWEEN_CANCEL_CHECKS = 1000
"""Of SQLite's virtual machine: some tens of microseconds."""


class Readers:
    """Owns the read-only connections. Who finds none free waits, in order of arrival."""

    def __init__(self, path: Path, connections: Sequence[apsw.Connection]) -> None:
        self._path = path
        self._count = len(connections)
        self._limiter = trio.CapacityLimiter(self._count)
        self._give_back, self._free = trio.open_memory_channel[apsw.Connection](self._count)
        for connection in connections:
            self._give_back.send_nowait(connection)
        self._is_closed = False

    async def read(self, query: Callable[[apsw.Connection], T]) -> T:
        """Run ``query`` in a thread, on one state of the database.

        Cancellation: the query is interrupted, and the connection is free again before this returns.
        """
        connection = await self._borrow()
        try:
            return await trio.to_thread.run_sync(self._run, query, connection, limiter=self._limiter)
        finally:
            self._give_back.send_nowait(connection)

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

    def _run(self, query: Callable[[apsw.Connection], T], connection: apsw.Connection) -> T:
        with map_errors(self._path):
            if connection.in_transaction:  # the last one could not be ended, for want of room for instance
                connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            connection.set_progress_handler(_stop_if_cancelled, STEPS_BETWEEN_CANCEL_CHECKS)
            try:
                return query(connection)
            finally:
                connection.set_progress_handler(None)  # a COMMIT that were cancelled would leave it for ever in between
                if connection.in_transaction:
                    connection.execute("COMMIT")  # there is nothing to undo, and what it made for itself may stay


def _stop_if_cancelled() -> bool:
    """Raise trio.Cancelled in the thread; apsw interrupts the query and hands the exception on."""
    trio.from_thread.check_cancelled()
    return False
