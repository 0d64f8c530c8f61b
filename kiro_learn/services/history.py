"""What a memory replaced, and undoing that."""

from __future__ import annotations

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import UnknownRecord
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import RecordId
from kiro_learn.ports.storage.interface import StorageBackend


class History:
    """Shows which records a record replaced, and undoes a replacement."""

    def __init__(self, storage: StorageBackend, writer: StorageActor) -> None:
        self._storage = storage
        self._writer = writer

    async def of(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record, newest first; empty where it replaced nothing.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: they could not be read.
        """
        replacements = await self._storage.list_replacements(record_id)
        # Read last: a record that is replaced between the two reads raises UnknownRecord instead of having no history.
        if not replacements and not await self._storage.get_memory_records([record_id]):
            raise UnknownRecord(record_id)
        return replacements

    async def undo(self, record_id: RecordId) -> Replacement:
        """Undo the replacement that made a record, and return it: the new records are forgotten, the old ones are found
        again as before.

        Raises:
          UnknownRecord: there is none of this id.
          NothingToUndo: it replaced nothing.
          ReplacedSince: what it came with was replaced in its turn; that is to be undone first.
          StorageError: it could not be taken back; nothing changed.
        """
        return await self._writer.write(lambda transaction: transaction.undo_replacement(record_id))
