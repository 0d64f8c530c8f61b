"""One learning run: a snapshot of what waits becomes records, and leaves the buffer in the commit that keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import structlog

from kiro_learn.actors.extraction import Extractor
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.learning.candidate import Candidate
from kiro_learn.learning.reconciliation.judge_breaker import JudgeBreaker
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.learning_run import LearningRun
from kiro_learn.model.namespace import Namespace
from kiro_learn.storage.interface import StorageTransaction
from kiro_learn.world import World

log = structlog.get_logger()


@attrs.frozen
class Learned:
    """What a run did, and the project's judge breaker as it left it."""

    event_count: int
    record_count: int
    judge_breaker: JudgeBreaker


@attrs.frozen(eq=False, kw_only=True)
class Learner:
    """How a snapshot is learned: extract, then one commit. Holds no state of its own."""

    extractor: Extractor
    writer: StorageActor
    world: World

    async def learn(self, namespace: Namespace, snapshot: BufferSnapshot, judge_breaker: JudgeBreaker) -> Learned:
        """Learn ``snapshot``, or as much of its beginning as goes into one prompt, and clear exactly that.

        If it raises, the project's ``judge_breaker`` stays what it was.

        Cancellation: nothing was learned, everything still waits; or the commit is done.

        Raises:
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt outlasted its time.
          StorageError: the commit failed.
        """
        started_at = self.world.utc_now()
        extracted = await self.extractor.extract(namespace, snapshot)
        candidates, learned = extracted.candidates, extracted.snapshot
        run = LearningRun(
            run_id=self.world.new_ulid(),
            namespace=namespace,
            strategy=extracted.llm.strategy,
            started_at=started_at,
            finished_at=self.world.utc_now(),
            event_count=learned.event_count,
            record_count=len(candidates),
            problem=None,
        )
        await self.writer.write(lambda transaction: _push(transaction, candidates, run, through=learned.through))
        log.info(
            "learning.run_done",
            run_id=run.run_id,
            strategy=run.strategy,
            event_count=run.event_count,
            record_count=run.record_count,
            embedded_count=sum(candidate.embedding is not None for candidate in candidates),
            duration_ms=round((run.finished_at - started_at).total_seconds() * 1000),
        )
        return Learned(run.event_count, run.record_count, judge_breaker)

    async def note_failure(self, namespace: Namespace, snapshot: BufferSnapshot, *, problem: str) -> None:
        """Enter a failed run in the books. Raises StorageError."""
        now = self.world.utc_now()
        run = LearningRun(
            run_id=self.world.new_ulid(),
            namespace=namespace,
            strategy=self.extractor.llms.current().strategy,
            started_at=now,
            finished_at=now,
            event_count=snapshot.event_count,
            record_count=0,
            problem=problem,
        )
        await self.writer.write(lambda transaction: transaction.put_run(run))
        log.warning("learning.run_failed", run_id=run.run_id, event_count=run.event_count, problem=problem)


def _push(transaction: StorageTransaction, candidates: Sequence[Candidate], run: LearningRun, *, through: int) -> None:
    for candidate in candidates:
        transaction.put_memory_record(candidate.record)
        if candidate.embedding is not None:
            transaction.put_embedding(candidate.record.record_id, candidate.embedding)
    transaction.clear_buffer(run.namespace, through=through)
    transaction.put_run(run)
