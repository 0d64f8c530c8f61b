"""Learns again, by a model, what was learned without one: a batch at a time, between the runs of its project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime

import attrs
import structlog
import trio

from kiro_learn.errors import ActorStopped, BudgetSpent, KiroLearnError, StorageError
from kiro_learn.learning.extraction.splitting import INSTRUCTIONS_CHARACTERS
from kiro_learn.learning.reconciliation.judge import JudgeBreaker
from kiro_learn.learning.relearning import PastEvent, PastTurn, RelearningPlan, batch_length, plan, word_counts
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import BUILT_IN_STRATEGY, JUDGED_STRATEGY, MODEL_STRATEGY, MemoryRecord
from kiro_learn.pipelines.learn.reconciliation import RULE_STRATEGY
from kiro_learn.pipelines.learn.relearning_batch import Batch, BatchLearned, BatchLearner, BatchOutdated, BatchRefused
from kiro_learn.ports.models import TOO_SLOW
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.supervisor import Reply

log = structlog.get_logger()

WEAK = frozenset({BUILT_IN_STRATEGY, RULE_STRATEGY})
BETTER = frozenset({MODEL_STRATEGY, JUDGED_STRATEGY})

RECORDS_READ = 500
"""Records read at a time."""

FAR_LESS = "{going} memories would be replaced by {coming}"
"""The problem of a batch that was not committed."""

EVENT_BYTES_READ = 8_388_608
"""Bytes of events read at a time: each read scans the ids of all events that are left."""


@attrs.frozen
class Relearned:
    """The result of a relearning, as far as it came."""

    event_count: int = 0
    record_count: int = 0
    """New records that are live, but for those that say what was there before."""
    replaced_count: int = 0
    """Weak records that were replaced by others than themselves."""
    protected_count: int = 0
    """Weak records that stay, because no new record holds what they say."""
    batch_count: int = 0
    problem: str | None = None
    """Why the relearning ended early; None if it did not."""
    refused: BatchRefused | None = None
    """The batch because of which it ended, as too little would have replaced too much; else None."""

    def __add__(self, other: Relearned) -> Relearned:
        return Relearned(
            self.event_count + other.event_count,
            self.record_count + other.record_count,
            self.replaced_count + other.replaced_count,
            self.protected_count + other.protected_count,
            self.batch_count + other.batch_count,
            other.problem or self.problem,
            other.refused or self.refused,
        )

    def with_batch(self, learned: BatchLearned) -> Relearned:
        return self + Relearned(
            len(learned.event_ids),
            learned.record_count,
            learned.replaced_count,
            learned.protected_count,
            batch_count=1,
        )


@attrs.frozen(eq=False, kw_only=True)
class Relearner:
    """Finds what a model should learn again. Writes nothing, and holds no state of its own."""

    storage: StorageBackend
    batches: BatchLearner
    batch_bytes: int
    """The most bytes of events that are learned again together."""

    @property
    def prompt_bytes(self) -> int:
        """About how many bytes of events one call of the model learns again."""
        return min(self.batch_bytes, self.batches.extractor.prompt_characters - INSTRUCTIONS_CHARACTERS)

    async def plan(self, namespace: Namespace, *, since: datetime | None) -> RelearningPlan:
        """The turns at or after ``since`` to be learned again, with their weak records. Raises StorageError."""
        # Events are read before records: once an event has left the buffer, its records are stored.
        events = await self._events(namespace, since)
        records = await self._records(namespace)
        weak = [record for record in records if await self._is_weak(record)]
        weak_ids = {record.record_id for record in weak}
        better = (each for each in records if each.strategy in WEAK | BETTER and each.record_id not in weak_ids)
        told = {event_id for record in better for event_id in record.source_event_ids}
        return await self.batches.offload(lambda: plan(events, weak, told))

    async def count_weak(self, namespace: Namespace) -> int:
        """The number of records that were learned without a model. Raises StorageError."""
        return sum([await self._is_weak(record) for record in await self._records(namespace)])

    def relearning(self, namespace: Namespace, *, since: datetime | None, accepts_few: bool) -> Relearning:
        """A request for the project's actor; ``accepts_few``: commit even if the new records say far less."""
        return Relearning(self, namespace, since, accepts_few)

    async def _is_weak(self, record: MemoryRecord) -> bool:
        """Whether the built-in learner made the record, or the rule merged it from nothing but such records."""
        if record.strategy != RULE_STRATEGY:
            return record.strategy in WEAK
        replacements = await self.storage.list_replacements(record.record_id)
        return all(replaced.strategy in WEAK for each in replacements for replaced in each.replaced)

    async def _records(self, namespace: Namespace) -> list[MemoryRecord]:
        """All records, oldest first. Those stored or removed during the reading may be among them or not."""
        records: dict[RecordId, MemoryRecord] = {}
        offset, total = 0, 1
        while offset < total:
            page = await self.storage.list_memory_records(namespace=namespace, limit=RECORDS_READ, offset=offset)
            records |= {record.record_id: record for record in page.items}
            offset, total = offset + RECORDS_READ, page.total
        return list(reversed(records.values()))

    async def _events(self, namespace: Namespace, since: datetime | None) -> list[PastEvent]:
        events: list[PastEvent] = []
        after: EventId | None = None
        while True:
            page = await self.storage.snapshot_events(namespace, since=since, after=after, most_bytes=EVENT_BYTES_READ)
            if not page.entries:
                return events
            for entry in page.entries:
                event = entry.event
                events.append(PastEvent(event.event_id, event.session_id, event.kind, entry.size_bytes))
            after = events[-1].event_id


@attrs.define(eq=False)
class Relearning:
    """One requested relearning of a project: makes its plan first, then learns it batch by batch.

    It may end after any batch: the batches that are done are committed, the rest is unchanged.
    """

    _relearner: Relearner
    _namespace: Namespace
    _since: datetime | None
    _accepts_few: bool
    _turns: Sequence[PastTurn] | None = None
    """Turns that are left; None before the plan is made."""
    _weak: Mapping[RecordId, MemoryRecord] = attrs.Factory(dict)
    _told: frozenset[EventId] = frozenset()
    _word_counts: Mapping[str, int] = attrs.Factory(dict)
    _so_far: Relearned = Relearned()
    reply: Reply[Relearned] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reply = Reply(f"relearning of {self._namespace}")

    @property
    def is_over(self) -> bool:
        """Whether all batches are done, or the relearning was refused; its reply is answered then."""
        return self._turns is not None and not self._turns

    @property
    def event_count(self) -> int:
        """Count of events that are left; 0 before the plan is made."""
        return sum(len(turn.events) for turn in self._turns or ())

    async def run_step(self, judge_breaker: JudgeBreaker) -> JudgeBreaker:
        """Make the plan, or learn the next batch again; returns the project's breaker after it. A failure ends it.

        Cancellation: the batch is committed or unchanged; the caller gets ActorStopped.
        """
        with ExitStack() as on_cancel:
            on_cancel.callback(self.refuse)
            try:
                judge_breaker = await self._take_step(judge_breaker)
            except (KiroLearnError, trio.TooSlowError) as error:
                await self._fail(error)
            on_cancel.pop_all()
        if self.is_over:
            self.reply.answer(self._so_far)
        return judge_breaker

    def refuse(self) -> None:
        """End the relearning early: the caller gets ActorStopped."""
        self._turns = ()
        self.reply.refuse(ActorStopped(f"project {self._namespace}"))

    async def _take_step(self, judge_breaker: JudgeBreaker) -> JudgeBreaker:
        if self._turns is not None:
            return await self._learn_batch(self._turns, judge_breaker)
        planned = await self._relearner.plan(self._namespace, since=self._since)
        self._word_counts = await self._relearner.batches.offload(lambda: word_counts(planned.weak.values()))
        self._turns, self._weak, self._told = planned.turns, planned.weak, planned.told
        return judge_breaker

    async def _learn_batch(self, turns: Sequence[PastTurn], judge_breaker: JudgeBreaker) -> JudgeBreaker:
        count = batch_length(turns, self._relearner.batch_bytes)
        turns, later = turns[:count], turns[count:]
        stored_ids = await self._stored_weak_ids(turns)
        batch = Batch(
            namespace=self._namespace,
            turns=[turn for turn in turns if not turn.record_ids.isdisjoint(stored_ids)],
            weak=[self._weak[record_id] for record_id in sorted(stored_ids)],
            told=self._told,
            to_replace=self._weak.keys(),
            word_counts=self._word_counts,
            accepts_few=self._accepts_few,
        )
        left: frozenset[EventId] = frozenset()
        if batch.turns:
            learned = await self._relearner.batches.learn(batch, judge_breaker)
            if isinstance(learned, BatchRefused):
                await self._end_refused(learned)
                return judge_breaker
            if isinstance(learned, BatchOutdated):
                self._turns = None  # the next step makes a new plan, without what was forgotten or has expired
                return judge_breaker
            self._so_far = self._so_far.with_batch(learned)
            self._told |= learned.event_ids
            left, judge_breaker = learned.left_event_ids, learned.judge_breaker
        rest = (turn.reduced_to(left) for turn in turns)
        self._turns = [*(turn for turn in rest if turn.events), *later]
        return judge_breaker

    async def _stored_weak_ids(self, turns: Sequence[PastTurn]) -> set[RecordId]:
        """The ids of the weak records of ``turns`` that were not forgotten, merged or replaced meanwhile."""
        record_ids = sorted(frozenset[RecordId]().union(*(turn.record_ids for turn in turns)))
        return {record.record_id for record in await self._relearner.storage.get_memory_records(record_ids)}

    async def _end_refused(self, refused: BatchRefused) -> None:
        problem = FAR_LESS.format(going=len(refused.going), coming=len(refused.coming))
        self._so_far, self._turns = attrs.evolve(self._so_far, problem=problem, refused=refused), ()
        log.warning("relearning.refused", going_count=len(refused.going), coming_count=len(refused.coming))
        await self._relearner.batches.note_failure(self._namespace, problem)

    async def _fail(self, error: KiroLearnError | trio.TooSlowError) -> None:
        problem = str(error) if isinstance(error, KiroLearnError) else TOO_SLOW
        self._so_far, self._turns = attrs.evolve(self._so_far, problem=problem), ()
        log.warning("relearning.stopped", batch_count=self._so_far.batch_count, problem=problem)
        if not isinstance(error, BudgetSpent | StorageError):
            await self._relearner.batches.note_failure(self._namespace, problem)
