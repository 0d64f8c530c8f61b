"""Shrinks what is too long: a buffer that cannot be learned, and old memories."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.config import CompactionConfig
from kiro_learn.errors import BudgetSpent, LlmError, UnknownRecord
from kiro_learn.learning.consolidation import (
    INSTRUCTIONS_CHARACTERS,
    distilled,
    entries_of,
    oldest_half,
    parse,
    prompt_for,
    text_bytes,
)
from kiro_learn.learning.extraction.splitting import Portion, portion
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Amount
from kiro_learn.pipelines.learn.asking import MeteredLlm, is_model, until_usable
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import TOO_SLOW, Llm, LlmByProject
from kiro_learn.ports.storage.events import BufferReads
from kiro_learn.ports.storage.interface import StorageTransaction, StorageWriter
from kiro_learn.ports.storage.records import ObservationReads
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()


@attrs.frozen(eq=False, kw_only=True)
class Compactor:
    """Compacts buffers, sets their oldest half aside, and takes that half back. Holds no state of its own.

    The caller ensures that no run of the same project is under way: both work on the buffer's oldest entries.
    """

    storage: BufferReads
    writer: StorageWriter
    llms: LlmByProject
    calls: MeteredLlm
    clock: ClockAndIds
    offload: Offload
    config: CompactionConfig
    prompt_characters: int
    """The most characters of one prompt."""

    async def compact(self, namespace: Namespace) -> bool:
        """Replace the oldest entries by a model's summary of them: as many entries as fit in one prompt.

        Returns False, with nothing done, if no model can be asked now. Entries that arrive meanwhile stay.

        Raises:
          LlmError: no answer was shorter; or an attempt took too long, and the next one would too.
          StorageError: the buffer could not be read or written; nothing changed.
        """
        llm = self.llms.current(namespace)
        if not is_model(llm):
            return False
        snapshot = await self.storage.snapshot_buffer(namespace, most_bytes=self.config.threshold_bytes)
        characters_left = self.prompt_characters - INSTRUCTIONS_CHARACTERS
        part = await self.offload(lambda: portion(snapshot, characters_left, least_count=2))
        try:
            entries = await self._entries(namespace, llm, part)
        except BudgetSpent:
            return False
        through = part.snapshot.through
        await self.writer.write(lambda tx: tx.compact_buffer(namespace, through=through, entries=entries))
        log.info(
            "buffer.compacted",
            entry_count=len(entries),
            replaced_count=len(part.snapshot.entries),
            saved_bytes=part.snapshot.size_bytes - sum(entry.size_bytes for entry in entries),
        )
        return True

    async def set_aside_oldest_half(self, namespace: Namespace, size_bytes: int) -> int:
        """Park the oldest half of a buffer of ``size_bytes``; returns the number of its entries.

        Raises:
          StorageError: nothing changed.
        """
        half = oldest_half(await self.storage.snapshot_buffer(namespace, most_bytes=size_bytes))
        if half.entries:
            await self.set_aside(namespace, half)
        return len(half.entries)

    async def set_aside(self, namespace: Namespace, oldest: BufferSnapshot) -> None:
        """Park ``oldest``, the first entries of the buffer.

        Raises:
          StorageError: nothing changed.
        """
        await self.writer.write(lambda tx: tx.park_buffer(namespace, through=oldest.through))

    async def take_back(self, namespace: Namespace, *, most_bytes: int) -> None:
        """Return the oldest parked entries to the buffer, at most ``most_bytes`` but at least one entry.

        Raises:
          StorageError: nothing changed.
        """
        size = await self.writer.write(lambda tx: tx.unpark_buffer(namespace, most_bytes=most_bytes))
        log.info("buffer.taken_back", event_count=size.event_count, parked_event_count=size.parked_event_count)

    async def _entries(self, namespace: Namespace, llm: Llm, part: Portion) -> tuple[BufferedEvent, ...]:
        """Ask until an answer has fewer entries than ``part``; an attempt does not build on the one before."""
        if len(part.snapshot.entries) < 2:  # noqa: PLR2004  # one entry cannot become fewer
            raise LlmError("one entry cannot become fewer")
        prompt = prompt_for(part)

        async def attempt(_before: LlmError | None) -> tuple[BufferedEvent, ...]:
            answer = await self.calls.ask(namespace, llm, prompt, seconds=self.config.model_seconds)
            return await self.offload(lambda: entries_of(parse(answer), part, self.clock.new_ulid))

        try:
            return await until_usable(attempt, attempts=self.config.attempts, failed="compaction.attempt_failed")
        except trio.TooSlowError as error:
            raise LlmError(TOO_SLOW) from error


# Replaces long memories by short ones. The long ones are kept as replaced, so that undoing brings them back.


@attrs.frozen
class _Distilled:
    """A long memory and the short one that may replace it."""

    record: MemoryRecord
    short: MemoryRecord

    @property
    def saved_bytes(self) -> int:
        return text_bytes(self.record) - text_bytes(self.short)


@attrs.frozen(eq=False)
class Distiller:
    """Distils each record once: one that was put back, or was short enough, is left alone from then on."""

    _storage: ObservationReads
    _writer: StorageWriter
    _clock: ClockAndIds
    _offload: Offload

    async def preview(self, records: Sequence[MemoryRecord]) -> Amount:
        """How many of ``records`` would become shorter, and by how many bytes together."""
        return _saved(await self._distilled(records))

    async def distill(self, records: Sequence[MemoryRecord]) -> Amount:
        """Replace the ``records`` that become shorter, in one commit. A record that is gone by then is left out.

        Raises:
          StorageError: a read or the commit failed; nothing changed.
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
