"""Corrects a memory: a corrected one takes its place, and it is kept as what that one replaced."""

from __future__ import annotations

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Correction, Replacement, ReplacementReason
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.scrub import scrub_record


class Edit:
    """The same redaction, index and embedding as what was learned."""

    def __init__(self, writer: StorageActor, clock: ClockAndIds) -> None:
        self._writer = writer
        self._clock = clock

    async def edit(self, record: MemoryRecord, correction: Correction) -> MemoryRecord:
        """Put a corrected ``record`` in its place, with a new id, and answer it.

        It is found by its words at once, and by its meaning when the backfiller has embedded it. Undoing it
        (``History.undo``) puts the old one back.

        Raises:
          InvalidRequest: it would say the same as before.
          UnknownRecord: the record was replaced or forgotten since it was read; nothing changed.
          StorageError: it could not be kept; nothing changed.
        """
        corrected = scrub_record(correction.of(record))
        if corrected == record:
            raise InvalidRequest([("$", "expected something that differs from what the memory says")])
        return await self._replace(corrected, (record,))

    async def keep(self, record: MemoryRecord, ended: MemoryRecord) -> MemoryRecord:
        """Let ``record`` take the place of both, with a new id, and answer it. Undoing it puts both back.

        Raises:
          UnknownRecord: one of them was replaced or forgotten since it was read; nothing changed.
          StorageError: it could not be kept; nothing changed.
        """
        return await self._replace(record, (record, ended))

    async def _replace(self, said: MemoryRecord, replaced: tuple[MemoryRecord, ...]) -> MemoryRecord:
        ulid = self._clock.new_ulid()
        new = unchecked_evolve(said, record_id=RecordId(RECORD_PREFIX + ulid), strategy=EDITED, stale_at=None)
        replacement = Replacement(
            replacement_id=self._clock.new_ulid(),
            namespace=said.namespace,
            reason=ReplacementReason.MERGED,
            replaced_at=self._clock.utc_now(),
            replacing=(new.record_id,),
            replaced=replaced,
        )

        def put(transaction: StorageTransaction) -> None:
            transaction.put_memory_record(new)
            transaction.replace_memory_records(replacement)

        await self._writer.write(put)
        return new
