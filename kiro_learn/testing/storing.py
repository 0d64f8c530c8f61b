"""Short ways to put something into a store, and to look for it: one work, one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import Refused, SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, Work

T = TypeVar("T")


async def transact_one(storage: StorageBackend, work: Work[T]) -> T:
    """Run one work as ``transact`` does; its error is raised."""
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
    """The records of ``rank_by_words``, whole."""
    ranking = await storage.rank_by_words(params)
    return await storage.get_memory_records([hit.record_id for hit in ranking.hits])
