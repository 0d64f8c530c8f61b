"""One learning run: a snapshot of what waits becomes records, and leaves the buffer in the commit that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs
import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.llm_switch import LlmSwitch
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.config import LearningConfig
from kiro_learn.errors import EmbeddingError, LlmError
from kiro_learn.learning.extraction.draft import RecordDraft
from kiro_learn.learning.extraction.framing import FramedBatch, frame
from kiro_learn.learning.extraction.instructions import prompt_for
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.llm.interface import Llm
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, embedded_text
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.storage.interface import BufferSnapshot, LearningRun, StorageTransaction
from kiro_learn.vectors import Vector
from kiro_learn.world import World

log = structlog.get_logger()


TOO_SLOW = "the learner took too long"


@attrs.frozen
class Extracted:
    """What a batch may leave behind, and the strategy of the learner that worded it."""

    drafts: Sequence[RecordDraft]
    strategy: str


@attrs.frozen(eq=False)
class Candidate:
    """A record that is not kept yet, and its vector where one could be made."""

    record: MemoryRecord
    embedding: Vector | None


@attrs.frozen(eq=False, kw_only=True)
class Learner:
    """How a snapshot is learned: extract, then embed, then one commit. Holds no state of its own."""

    llms: LlmSwitch
    embedder: Embedder
    writer: StorageActor
    world: World
    config: LearningConfig

    async def learn(self, namespace: Namespace, snapshot: BufferSnapshot) -> int:
        """Learn ``snapshot`` and clear exactly it; answers how many records were made.

        Cancellation: nothing was learned, everything still waits; or the commit is done.

        Raises:
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt outlasted its time, which ends the run: another would take as long.
          StorageError: the commit failed.
        """
        started_at = self.world.utc_now()
        extracted = await self._extract(frame(snapshot.events, snapshot.earlier_prompts))
        records = [self._record(namespace, draft, extracted.strategy, started_at) for draft in extracted.drafts]
        candidates = await self._embed(records)
        run = LearningRun(
            run_id=self.world.new_ulid(),
            namespace=namespace,
            strategy=extracted.strategy,
            started_at=started_at,
            finished_at=self.world.utc_now(),
            event_count=len(snapshot.events),
            record_count=len(candidates),
            problem=None,
        )
        await self.writer.write(lambda transaction: _push(transaction, candidates, run, through=snapshot.through))
        log.info(
            "learning.run_done",
            run_id=run.run_id,
            strategy=run.strategy,
            event_count=run.event_count,
            record_count=run.record_count,
            embedded_count=sum(candidate.embedding is not None for candidate in candidates),
            duration_ms=round((run.finished_at - started_at).total_seconds() * 1000),
        )
        return len(candidates)

    async def note_failure(self, namespace: Namespace, snapshot: BufferSnapshot, *, problem: str) -> None:
        """Enter a failed run in the books. Raises StorageError."""
        now = self.world.utc_now()
        run = LearningRun(
            run_id=self.world.new_ulid(),
            namespace=namespace,
            strategy=self.llms.current().strategy,
            started_at=now,
            finished_at=now,
            event_count=len(snapshot.events),
            record_count=0,
            problem=problem,
        )
        await self.writer.write(lambda transaction: transaction.put_run(run))
        log.warning("learning.run_failed", run_id=run.run_id, event_count=run.event_count, problem=problem)

    async def _extract(self, batch: FramedBatch) -> Extracted:
        """Ask whoever learns just now; if its failure is one too many, whoever stands in for it from now on."""
        llm = self.llms.current()
        try:
            drafts = await self._ask(llm, batch)
        except (LlmError, trio.TooSlowError) as error:
            self.llms.failed(llm, str(error) or TOO_SLOW)
            if self.llms.current() is llm:
                raise
            return await self._extract(batch)
        self.llms.worked(llm)
        return Extracted(drafts, llm.strategy)

    async def _ask(self, llm: Llm, batch: FramedBatch) -> list[RecordDraft]:
        """Ask until an answer can be used; each attempt starts afresh."""
        prompt = prompt_for(batch)
        for attempts_left in reversed(range(self.config.extraction_attempts)):
            try:
                with trio.fail_after(self.config.extraction_seconds):
                    answer = await llm.complete(prompt)
                return parse(answer, batch)
            except LlmError as error:
                log.warning("learning.attempt_failed", attempts_left=attempts_left, problem=str(error))
                if not attempts_left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _embed(self, records: Sequence[MemoryRecord]) -> list[Candidate]:
        """Give each record its vector now if the model is at hand; the backfiller does it later if not."""
        if not records or not self.embedder.is_ready:
            return [Candidate(record, None) for record in records]
        try:
            vectors = await self.embedder.embed_texts([embedded_text(record) for record in records])
        except EmbeddingError as error:
            log.warning("learning.not_embedded", record_count=len(records), problem=str(error))
            return [Candidate(record, None) for record in records]
        return [Candidate(record, vector) for record, vector in zip(records, vectors, strict=True)]

    def _record(self, namespace: Namespace, draft: RecordDraft, strategy: str, created_at: datetime) -> MemoryRecord:
        return scrub_record(
            MemoryRecord(
                record_id=RecordId(RECORD_PREFIX + self.world.new_ulid()),
                namespace=namespace,
                strategy=strategy,
                title=draft.title,
                summary=draft.summary,
                facts=draft.facts,
                concepts=draft.concepts,
                files_touched=draft.files_touched,
                observation_type=draft.observation_type,
                source_event_ids=draft.source_event_ids,
                created_at=created_at,
                knowledge_type=draft.knowledge_type,
                importance=draft.importance,
                files_read=draft.files_read,
                files_modified=draft.files_modified,
                origin=draft.origin,
            )
        )


def _push(transaction: StorageTransaction, candidates: Sequence[Candidate], run: LearningRun, *, through: int) -> None:
    for candidate in candidates:
        transaction.put_memory_record(candidate.record)
        if candidate.embedding is not None:
            transaction.put_embedding(candidate.record.record_id, candidate.embedding)
    transaction.clear_buffer(run.namespace, through=through)
    transaction.put_run(run)
