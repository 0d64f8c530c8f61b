"""Forgets a memory everywhere at once: row, index entry, vector, and the index in memory."""

from __future__ import annotations

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import UnknownRecord
from kiro_learn.model.ids import RecordId
from kiro_learn.ports.storage.interface import StorageBackend


class Forget:
    """Deletes records everywhere; the events they were learned from stay."""

    def __init__(self, writer: StorageActor, storage: StorageBackend) -> None:
        self._writer = writer
        self._storage = storage

    async def forget(self, record_id: RecordId) -> None:
        """Forget one record, and with it whatever it replaced; its text is nowhere in the store any more.

        Cancellation: it is forgotten or it is not; of its text, copies may be left until the next one is forgotten.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: it could not be removed.
        """
        if not await self._writer.write(lambda transaction: transaction.delete_memory_record([record_id])):
            raise UnknownRecord(record_id)
        await self._storage.erase_forgotten()
