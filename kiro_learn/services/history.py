"""What a person may take back: what a memory replaced, and its pin."""

from __future__ import annotations

from datetime import datetime

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import UnknownRecord
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Replacement
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend


class History:
    """Shows which records a record replaced, pins records, and undoes a replacement or a pin."""

    def __init__(self, storage: StorageBackend, writer: StorageActor, clock: ClockAndIds) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock

    async def of(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record, newest first; empty where it replaced nothing.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: they could not be read.
        """
        replacements = await self._storage.list_replacements(record_id)
        # Read last: a record that is replaced between the two reads raises UnknownRecord instead of having no history.
        if not replacements:
            await self._record(record_id)
        return replacements

    async def pinned_at(self, record_id: RecordId) -> datetime | None:
        """When the record was pinned; None if it is not, or cannot be read.

        Raises:
          StorageError: it cannot be told.
        """
        found = await self._storage.get_memory_records([record_id])
        return found[0].pinned_at if found else None

    async def undo(self, record_id: RecordId) -> Replacement | None:
        """Undo the replacement that made a record, and return it: the new records are forgotten, the old ones are found
        again as before. None: the record was pinned after that, and is only no longer pinned.

        Raises:
          UnknownRecord: there is none of this id.
          NothingToUndo: it replaced nothing, and is not pinned.
          ReplacedSince: what it came with was replaced in its turn; that is to be undone first.
          StorageError: it could not be taken back; nothing changed.
        """
        if await self._is_pinned_last(record_id):
            await self.unpin(record_id)
            return None
        return await self._writer.write(lambda transaction: transaction.undo_replacement(record_id))

    async def pin(self, record_id: RecordId) -> MemoryRecord:
        """The record, pinned; one that was pinned already keeps its time.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: it could not be pinned; nothing changed.
        """
        record = await self._record(record_id)
        return record if record.pinned_at else await self._set_pinned(record, self._clock.utc_now())

    async def unpin(self, record_id: RecordId) -> MemoryRecord:
        """The record, no longer pinned.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: its pin could not be taken away; nothing changed.
        """
        record = await self._record(record_id)
        return await self._set_pinned(record, None) if record.pinned_at else record

    async def _set_pinned(self, record: MemoryRecord, at: datetime | None) -> MemoryRecord:
        if not await self._writer.write(lambda transaction: transaction.set_pinned([record.record_id], at)):
            raise UnknownRecord(record.record_id)  # it was replaced or forgotten since it was read
        return unchecked_evolve(record, pinned_at=at)

    async def _is_pinned_last(self, record_id: RecordId) -> bool:
        pinned_at = await self.pinned_at(record_id)
        if pinned_at is None:
            return False
        came = (each for each in await self._storage.list_replacements(record_id) if record_id in each.replacing)
        return all(each.replaced_at <= pinned_at for each in came)

    async def _record(self, record_id: RecordId) -> MemoryRecord:
        found = await self._storage.get_memory_records([record_id])
        if not found:
            raise UnknownRecord(record_id)
        return found[0]
