"""Puts short memories in the place of long ones; these are kept as replaced, so that undoing brings them back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import attrs

from kiro_learn.errors import UnknownRecord
from kiro_learn.learning.consolidation.consolidation import distilled, text_bytes
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Amount
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction, StorageWriter
from kiro_learn.ports.storage.records import ObservationReads
from kiro_learn.runtime.admission import Offload


@attrs.frozen
class _Distilled:
    """A long memory and the short one that may replace it."""

    record: MemoryRecord
    short: MemoryRecord

    @property
    def saved_bytes(self) -> int:
        return text_bytes(self.record) - text_bytes(self.short)


class Distiller:
    """Each record is distilled once: one that is put back, or is short enough, is left alone from then on."""

    def __init__(
        self, storage: ObservationReads, writer: StorageWriter, clock: ClockAndIds, *, offload: Offload
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._offload = offload

    async def preview(self, records: Sequence[MemoryRecord]) -> Amount:
        """How many of them would become shorter, and by how many bytes."""
        return _saved(await self._distilled(records))

    async def distill(self, records: Sequence[MemoryRecord]) -> Amount:
        """Replace those that become shorter, in one commit. One that went meanwhile is left out.

        Raises:
          StorageError: it could not be done; nothing changed.
        """
        found = await self._distilled(records)
        digests = await self._storage.get_file_digests([record.record_id for record in records])
        return _saved(await self._writer.write(partial(self._replace, records, found, digests)))

    async def _distilled(self, records: Sequence[MemoryRecord]) -> list[_Distilled]:
        ids = [RecordId(RECORD_PREFIX + self._clock.new_ulid()) for _ in records]

        def compute() -> list[_Distilled]:
            pairs = ((record, distilled(record, record_id)) for record, record_id in zip(records, ids, strict=True))
            return [_Distilled(record, short) for record, short in pairs if short is not None]

        return await self._offload(compute)

    def _replace(
        self,
        records: Sequence[MemoryRecord],
        found: Sequence[_Distilled],
        digests: Mapping[RecordId, Mapping[str, str]],
        transaction: StorageTransaction,
    ) -> list[_Distilled]:
        transaction.mark_distilled([record.record_id for record in records])
        done: list[_Distilled] = []
        for each in found:
            with contextlib.suppress(UnknownRecord):
                transaction.attempt(partial(self._replace_one, each))
                done.append(each)
        noted = {each.short.record_id: digests.get(each.record.record_id) for each in done}
        transaction.put_file_digests({record_id: known for record_id, known in noted.items() if known})
        return done

    def _replace_one(self, each: _Distilled, transaction: StorageTransaction) -> None:
        replacement = Replacement(
            replacement_id=self._clock.new_ulid(),
            namespace=each.record.namespace,
            reason=ReplacementReason.MERGED,
            replaced_at=self._clock.utc_now(),
            replacing=(each.short.record_id,),
            replaced=(each.record,),
        )
        transaction.put_memory_record(each.short)
        transaction.mark_distilled([each.short.record_id])
        transaction.replace_memory_records(replacement)


def _saved(done: Iterable[_Distilled]) -> Amount:
    sizes = [each.saved_bytes for each in done]
    return Amount(len(sizes), sum(sizes))
