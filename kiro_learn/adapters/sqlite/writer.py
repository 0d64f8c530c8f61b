"""The one connection that writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import apsw
import structlog
import trio

from kiro_learn.adapters.sqlite import eraser
from kiro_learn.adapters.sqlite.errors import map_errors, one_work_named
from kiro_learn.adapters.sqlite.rewriting import rewrite
from kiro_learn.adapters.sqlite.transaction import SqliteTransaction
from kiro_learn.errors import KiroLearnError, StorageUnavailable
from kiro_learn.ports.storage.answers import Committed, Outcome, Refused
from kiro_learn.ports.storage.interface import Work

log = structlog.get_logger()

T = TypeVar("T")

ENDED = object()


class Writer:
    """Owns the connection that writes. One batch at a time, in order of arrival, in a thread."""

    def __init__(self, path: Path, connection: apsw.Connection, *, utc_now: Callable[[], datetime]) -> None:
        self._path = path
        self._connection = connection
        self._utc_now = utc_now
        self._turn = trio.CapacityLimiter(1)
        self._is_closed = False
        self._to_erase: set[int] = set()
        """Numbers of namespaces of which something was forgotten since the file was last cleared of it."""

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        """See ``StorageBackend.transact``.

        Cancellation: nothing is done if it comes before the batch's turn; after that, the batch is finished first,
        since a thread that writes is never abandoned.
        """
        return await self._in_turn(self._commit_together, works)

    async def erase_forgotten(self) -> bool:
        """See ``StorageBackend.erase_forgotten``. Each step has a turn of its own.

        Cancellation: after a step; what is left is done with the next call that has something to erase.
        """
        numbers, self._to_erase = self._to_erase, set()
        if not numbers:
            return True
        steps = self._erasing(numbers)
        is_done = False
        try:
            while await self._in_turn(self._take_step, steps):
                pass
            is_done = True
        except eraser.LogInUse:
            log.warning("storage.not_erased", namespace_count=len(numbers))
        finally:
            if not is_done:
                self._to_erase |= numbers
        return is_done

    async def give_back_space(self) -> None:
        """See ``RetentionReads.give_back_space``. In one turn.

        Cancellation: nothing is done while SQLite still copies; after that, the copy is written back first.
        """
        await self._in_turn(self._rewrite)

    async def close(self) -> None:
        """Wait for the batch under way, then close. A second close does nothing."""
        await self._in_turn(self._close)

    async def _in_turn(self, step: Callable[..., T], *arguments: Any) -> T:
        """Run ``step`` in a thread, after those that were asked for before; it is never abandoned."""
        return await trio.to_thread.run_sync(step, *arguments, limiter=self._turn)

    def _commit_together(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        if self._is_closed:
            raise StorageUnavailable(self._path, hint="It was closed.")
        with map_errors(self._path):
            self._begin()
            try:
                outcomes = [self._run(work) for work in works]
                self._connection.execute("COMMIT")
            finally:
                # Some errors of SQLite (a full disk) have rolled back by themselves.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            return outcomes

    def _erasing(self, numbers: set[int]) -> Iterator[None]:
        return eraser.steps(self._connection, self._path, numbers)

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _take_step(self, steps: Iterator[None]) -> bool:
        """False if it was the last one."""
        if self._is_closed:
            raise StorageUnavailable(self._path, hint="It was closed.")
        with map_errors(self._path):
            return next(steps, ENDED) is not ENDED

    def _rewrite(self) -> None:
        if self._is_closed:
            raise StorageUnavailable(self._path, hint="It was closed.")
        with map_errors(self._path):
            rewrite(self._connection, self._path, interrupted=_stop_if_cancelled)

    def _run(self, work: Work[Any]) -> Outcome:
        transaction = SqliteTransaction(self._connection, self._utc_now)
        self._connection.execute("SAVEPOINT work")
        try:
            with one_work_named():
                value = work(transaction)
        except KiroLearnError as error:
            self._connection.execute("ROLLBACK TO work")
            self._connection.execute("RELEASE work")
            return Refused(error)
        self._connection.execute("RELEASE work")
        self._to_erase |= transaction.forgotten_in
        return Committed(value, tuple(transaction.changes))

    def _close(self) -> None:
        self._is_closed = True
        self._connection.close()


def _stop_if_cancelled() -> bool:
    """Raise trio.Cancelled in the thread; apsw interrupts the statement and hands the exception on."""
    trio.from_thread.check_cancelled()
    return False
