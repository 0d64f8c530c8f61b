"""Forgets a memory everywhere at once: row, index entry, vector, and the index in memory."""

from __future__ import annotations

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import UnknownRecord
from kiro_learn.learning.aftermath import holding_words_of, passages_of
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend

MOST_PASSAGES = 100
"""Sentences of a memory that others are searched for; of a longer one, the first and the last."""
MOST_ALIKE = 100
"""Memories that are looked at for each sentence, those that share most words with it."""


@attrs.frozen
class Forgotten:
    """What went, and what holds the words of it still."""

    record_ids: tuple[RecordId, ...]
    """The one that was named first."""
    same_words: tuple[MemoryRecord, ...]


class Forget:
    """Deletes records everywhere; the events they were learned from stay."""

    def __init__(self, writer: StorageActor, storage: StorageBackend) -> None:
        self._writer = writer
        self._storage = storage

    async def same_words(self, record_id: RecordId) -> tuple[MemoryRecord, ...]:
        """The memories of its project that hold the words of this one: from its events first, then the newest.

        Nothing if the memory is not there, or cannot be read.
        """
        found = await self._storage.get_memory_records([record_id])
        if not found:
            return ()
        [record] = found
        passages = passages_of(record)
        if len(passages) > MOST_PASSAGES:
            passages = (*passages[: MOST_PASSAGES // 2], *passages[-MOST_PASSAGES // 2 :])
        alike: dict[RecordId, None] = {}
        for passage in passages:
            ranking = await self._storage.rank_by_words(SearchParams(record.namespace, passage, limit=MOST_ALIKE))
            alike.update(dict.fromkeys(hit.record_id for hit in ranking.hits))
        return tuple(holding_words_of(record, await self._storage.get_memory_records(list(alike))))

    async def forget(self, record_id: RecordId, *, with_same_words: bool = False) -> Forgotten:
        """Forget one record, and with it whatever it replaced; its text is nowhere in the store any more.

        Args:
          with_same_words: also those that hold the words of it, in the same commit.

        Cancellation: it is forgotten or it is not; of its text, copies may be left until the next one is forgotten.

        Raises:
          UnknownRecord: there is none of this id.
          StorageError: it could not be removed.
        """
        same = await self.same_words(record_id)
        gone = (record_id, *(each.record_id for each in same)) if with_same_words else (record_id,)
        if not await self._writer.write(lambda transaction: transaction.delete_memory_record(gone)):
            raise UnknownRecord(record_id)
        await self._storage.erase_forgotten()
        return Forgotten(gone, () if with_same_words else same)
