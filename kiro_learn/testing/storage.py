"""The store of the tests: the real one, in memory and on the caller's thread, delayed or broken on demand.

Also short functions that put one thing into a store, or search it, each in one transaction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePath
from typing import Any, TypeVar, cast

import apsw
import trio

from kiro_learn.adapters.sqlite.connections import Readers, run_query, settle
from kiro_learn.adapters.sqlite.eraser import rewrite
from kiro_learn.adapters.sqlite.export import SqliteReading
from kiro_learn.adapters.sqlite.graph_reads import list_items
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate, uninterrupted
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.errors import StorageUnavailable
from kiro_learn.model.event import Event
from kiro_learn.model.graph import GraphItem, GraphKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.model.stored import Stored
from kiro_learn.ports.storage.answers import Outcome, Refused, SearchParams
from kiro_learn.ports.storage.graph import GraphList
from kiro_learn.ports.storage.interface import StorageBackend, Work
from kiro_learn.testing.simulation import EPOCH, simulated_now

T = TypeVar("T")

IN_MEMORY = ":memory:"
NOISE = "UPDATE records_fts_{number}_data SET block = x'ffffffffffff' WHERE id > 10"
DAMAGED_ROWS = (
    "UPDATE events SET body_json = CAST(x'ff' AS TEXT) WHERE event_id = ?",
    "UPDATE memory_records SET summary = CAST(x'ff' AS TEXT) WHERE record_id = ?",
)


class InMemoryStorage(SqliteStorage):
    """A ``StorageBackend`` for tests, without threads. It is delayed or broken on demand, never by chance."""

    def __init__(self, *, user_home: PurePath | None = None, image: bytes | None = None) -> None:
        self.read_gate: trio.Event | None = None
        """If set to an event, reads wait for that event."""
        self.write_gate: trio.Event | None = None
        """If set to an event, writes wait for that event."""
        self.words_seconds = 0.0
        """How long ranking by words takes."""
        self.commit_count = 0
        self.connection = apsw.Connection(IN_MEMORY)
        self.connection.deserialize("main", image or _migrated())
        settle(self.connection)
        self._read_errors: list[Exception] = []
        self._write_errors: list[Exception] = []
        self._writer_in_place = _Writer(self)
        super().__init__(self._writer_in_place, _Readers(self), user_home=user_home)

    def fail_next_read(self, error: Exception) -> None:
        """Let the next read raise ``error``, after its gate."""
        self._read_errors.append(error)

    def fail_next_write(self, error: Exception) -> None:
        """Let the next batch of writing raise ``error``, after its gate, without changing anything."""
        self._write_errors.append(error)

    def write_now(self, work: Work[T]) -> T:
        """Run one work in a transaction of its own, outside of a simulation."""
        return self._writer_in_place.commit_now(work)

    def graph_items(self, namespace: Namespace) -> list[GraphItem]:
        """All items that the graph ever held, by kind; called outside of a simulation."""
        lists = (GraphList(namespace=namespace, kind=kind, limit=-1, only_current=False) for kind in GraphKind)
        return [item for query in lists for item in list_items(self.connection, self.damaged, query)]

    async def open_reading(self, kinds: Collection[str]) -> SqliteReading:
        await self.let_read()
        return _Reading(Path(IN_MEMORY), self.copied().connection, kinds)

    def damage_words(self, namespace: Namespace) -> None:
        """Damage the index of a project's words, until it is rebuilt."""
        number = self.connection.execute("SELECT number FROM namespaces WHERE namespace = ?", (namespace,)).get
        self.connection.execute(NOISE.format(number=number))

    def damage_row(self, row_id: str) -> None:
        """Damage the row of an event or a record."""
        for statement in DAMAGED_ROWS:
            self.connection.execute(statement, (row_id,))

    def copied(self) -> InMemoryStorage:
        """A store with all that is committed here right now, as a disk would hold it after a power failure."""
        return InMemoryStorage(user_home=self._user_home, image=self.connection.serialize("main"))

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        if self.words_seconds:
            await trio.sleep(self.words_seconds)
        return await super().rank_by_words(params)

    async def let_read(self) -> None:
        """Wait for the gate of reads; then raise the error that was ordered, if any."""
        await self._pass(self.read_gate, self._read_errors)

    async def let_write(self) -> None:
        """Wait for the gate of writes; then raise the error that was ordered, if any."""
        await self._pass(self.write_gate, self._write_errors)

    async def _pass(self, gate: trio.Event | None, errors: list[Exception]) -> None:
        await trio.lowlevel.checkpoint()
        if gate is not None:
            await gate.wait()
        if errors:
            raise errors.pop(0)


class _Writer(Writer):
    """Writes on the caller's thread."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(Path(IN_MEMORY), storage.connection, utc_now=simulated_now)
        self._storage = storage

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        await self._storage.let_write()
        outcomes = await super().transact(works)
        self._storage.commit_count += 1
        return outcomes

    def commit_now(self, work: Work[T]) -> T:
        (outcome,) = self._commit_together([work])
        if isinstance(outcome, Refused):
            raise outcome.error
        return cast("T", outcome.value)

    async def erase_forgotten(self) -> bool:
        """There is no file in which anything is left."""
        await self._storage.let_read()
        return True

    async def _in_turn(self, step: Callable[..., T], *arguments: Any) -> T:
        await trio.lowlevel.checkpoint()
        return step(*arguments)

    def _rewrite(self) -> None:
        rewrite(self._connection, self._path, interrupted=uninterrupted)


class _Reading(SqliteReading):
    """Reads on the caller's thread, from a copy."""

    async def _apart(self, step: Callable[[], list[Stored]]) -> list[Stored]:
        await trio.lowlevel.checkpoint()
        return step()


class _Readers(Readers):
    """Reads on the caller's thread, with the connection that also writes."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(Path(IN_MEMORY), ())
        self._storage = storage

    async def read(self, query: Callable[[apsw.Connection], T]) -> T:
        await self._storage.let_read()
        if self._is_closed:
            raise StorageUnavailable(IN_MEMORY, hint="It was closed.")
        return run_query(Path(IN_MEMORY), self._storage.connection, query)


@functools.cache
def _migrated() -> bytes:
    """The image of an empty database: opening a copy takes a hundredth of the time of making a new one."""
    connection = apsw.Connection(IN_MEMORY)
    migrate(connection, MIGRATIONS, utc_now=lambda: EPOCH)
    return connection.serialize("main")


async def transact_one(storage: StorageBackend, work: Work[T]) -> T:
    """Run one work as ``transact`` does, and raise its error."""
    (outcome,) = await storage.transact([work])
    if isinstance(outcome, Refused):
        raise outcome.error
    return cast("T", outcome.value)


async def put_event(storage: StorageBackend, event: Event) -> bool:
    """``StorageTransaction.put_event`` in a transaction of its own, unbuffered."""
    return bool(await transact_one(storage, lambda tx: tx.put_event(event, buffered=False)))


async def put_record(storage: StorageBackend, record: MemoryRecord) -> None:
    """``StorageTransaction.put_memory_record`` in a transaction of its own."""
    await transact_one(storage, lambda tx: tx.put_memory_record(record))


async def delete_records(storage: StorageBackend, record_ids: Sequence[RecordId]) -> int:
    """``StorageTransaction.delete_memory_record`` in a transaction of its own."""
    return await transact_one(storage, lambda tx: tx.delete_memory_record(record_ids))


async def search_records(storage: StorageBackend, params: SearchParams) -> list[MemoryRecord]:
    """The records that ``rank_by_words`` finds, whole."""
    ranking = await storage.rank_by_words(params)
    return await storage.get_memory_records([hit.record_id for hit in ranking.hits])
