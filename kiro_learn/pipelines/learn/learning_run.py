"""One learning run: makes records of buffered events. One commit stores the records and clears these events.

The commit is the third phase: one transaction writes everything, with a savepoint for each cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial

import attrs
import structlog

from kiro_learn.errors import BatchRefused, KiroLearnError
from kiro_learn.learning.reconciliation.judge import JudgeBreaker
from kiro_learn.learning.reconciliation.plan import Cluster
from kiro_learn.learning.relearning import Candidate
from kiro_learn.learning.schedule import retry_delay_seconds
from kiro_learn.model.buffer import BufferSnapshot, LearningRun, ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.draft import NO_DRAFTS, GraphDrafts
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.extraction import Extractor
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.learn.reconciliation import MergedRecord, Reconciled, ReconciledCluster, Reconciler
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.events import BufferReads
from kiro_learn.ports.storage.interface import StorageTransaction, StorageWriter


@attrs.frozen(eq=False)
class PendingCommit:
    """A cluster to be committed, and what is parked if that fails; its ``problem`` is filled in then."""

    cluster: ReconciledCluster
    if_parked: ParkedCluster


@attrs.frozen
class CommitResult:
    """Counts of what a run committed and parked."""

    record_count: int = 0
    """New records that are live after the run."""
    merge_count: int = 0
    replaced_count: int = 0
    """Records that were replaced, including new records of the run."""
    parked_count: int = 0
    """Clusters that could not be committed."""
    problem: str | None = None
    """Why the last parked cluster could not be committed."""

    def __add__(self, other: CommitResult) -> CommitResult:
        return CommitResult(
            self.record_count + other.record_count,
            self.merge_count + other.merge_count,
            self.replaced_count + other.replaced_count,
            self.parked_count + other.parked_count,
            other.problem or self.problem,
        )


def commit_clusters(transaction: StorageTransaction, pending: Sequence[PendingCommit]) -> CommitResult:
    """Commit each cluster, or park it; a cluster that fails does not affect the others.

    If a merge fails (a record to be replaced may be forgotten by now), the members are committed without it. If that
    fails too, the cluster is parked and tried again later.
    """
    return sum((_commit_or_park(transaction, each) for each in pending), CommitResult())


def _commit_or_park(transaction: StorageTransaction, pending: PendingCommit) -> CommitResult:
    try:
        return transaction.attempt(partial(_commit, pending))
    except KiroLearnError as error:
        if pending.cluster.merges:
            unmerged = ReconciledCluster(pending.cluster.members)
            return _commit_or_park(transaction, attrs.evolve(pending, cluster=unmerged))
        transaction.park_cluster(attrs.evolve(pending.if_parked, problem=str(error)))
        return CommitResult(parked_count=1, problem=str(error))


def _commit(pending: PendingCommit, transaction: StorageTransaction) -> CommitResult:
    cluster = without_forgotten(pending.cluster, transaction)
    for member in cluster.members:
        put_candidate(transaction, member)
    for merge in cluster.merges:
        put_merge(transaction, merge)
    return CommitResult(
        record_count=len(cluster.members) + len(cluster.merges) - _replaced_member_count(cluster),
        merge_count=len(cluster.merges),
        replaced_count=sum(len(merge.replaced) for merge in cluster.merges),
    )


def without_forgotten(cluster: ReconciledCluster, transaction: StorageTransaction) -> ReconciledCluster:
    """``cluster`` without forgotten members and their merges: a person may forget a record during the run."""
    forgotten = {member.record for member in cluster.members if transaction.is_forgotten(member.record)}
    return ReconciledCluster(
        tuple(member for member in cluster.members if member.record not in forgotten),
        tuple(merge for merge in cluster.merges if forgotten.isdisjoint(merge.replaced)),
    )


def put_merge(transaction: StorageTransaction, merge: MergedRecord) -> None:
    """Put the merged record in the place of the records that it replaces; raises as ``replace_memory_records`` does."""
    put_candidate(transaction, merge.candidate)
    transaction.replace_memory_records(_replacement(merge))


def _replacement(merge: MergedRecord) -> Replacement:
    record = merge.candidate.record
    return Replacement(
        replacement_id=merge.replacement_id,
        namespace=record.namespace,
        reason=ReplacementReason.MERGED,
        replaced_at=merge.merged_at,
        replacing=(record.record_id,),
        replaced=merge.replaced,
    )


def put_candidate(transaction: StorageTransaction, candidate: Candidate) -> None:
    """Put the record of ``candidate``, and its vectors if it has any."""
    transaction.put_memory_record(candidate.record)
    if candidate.embedding is not None:
        transaction.put_embedding(candidate.record.record_id, candidate.embedding, candidate.model)


def _replaced_member_count(cluster: ReconciledCluster) -> int:
    """How many members of ``cluster`` its own merges replace."""
    members = {member.record.record_id for member in cluster.members}
    return sum(record.record_id in members for merge in cluster.merges for record in merge.replaced)


log = structlog.get_logger()

NOTHING_WAITED = BufferSnapshot()

PHASES = ("extraction", "clustering", "neighbor_lookup", "judge", "commit")
"""The phases of a run, each of which is timed."""

LONGEST_PAUSE_SECONDS = 86_400.0
"""The longest pause between two attempts to commit a parked cluster."""


@attrs.frozen
class Learned:
    """Counts of a run, and the project's judge breaker after it."""

    event_count: int
    record_count: int
    """New records that are live after the run."""
    judge_breaker: JudgeBreaker
    entry_count: int = 0
    """Entries of the buffer that the run took."""
    refusal: BatchRefused | None = None
    """Why the built-in learner learned the batch in place of a model that passed its health check."""


@attrs.frozen(eq=False, kw_only=True)
class Learner:
    """Learns a snapshot: extract, reconcile, then one commit. Holds no state of its own."""

    storage: BufferReads
    extractor: Extractor
    reconciler: Reconciler
    graph: GraphLearner
    writer: StorageWriter
    clock: ClockAndIds
    retry_seconds: float
    """The pause before a parked cluster is tried again; doubled after each further attempt, up to a day."""

    async def learn(self, namespace: Namespace, snapshot: BufferSnapshot, judge_breaker: JudgeBreaker) -> Learned:
        """Learn ``snapshot``, or as much of its beginning as fits in one prompt, and clear exactly the learned entries.

        A cluster that cannot be committed is parked in the same commit. If ``learn`` raises, nothing was learned, and
        the project's ``judge_breaker`` does not change. The same is true if some of the events are erased meanwhile:
        the next run learns the others.

        Cancellation: either nothing was learned and all events stay in the buffer, or the commit is done.

        Raises:
          BatchRefused: the model passed its health check, but had no usable answer; part of the batch may be learned.
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt took too long.
          StorageError: the commit failed.
        """
        phases, started_at = Stopwatch(), self.clock.utc_now()
        with phases.stage("extraction"):
            extracted = await self.extractor.extract(namespace, snapshot)
            drafts = (await self.graph.drafts_of(extracted.snapshot)).with_more(extracted.graph)
        candidates, learned = extracted.candidates, extracted.snapshot
        with phases.stage("clustering"):
            clusters = await self.reconciler.clusters(candidates, judge_breaker)
        reconciled = await self.reconciler.reconcile(namespace, clusters, extracted.llm, judge_breaker, phases)
        run = new_run(self.clock, namespace, extracted.llm.strategy, started_at, event_count=learned.event_count)
        run = attrs.evolve(run, problem=extracted.problem)
        merged = await self.extractor.branches.merged(namespace, learned)
        pending = [PendingCommit(each, self._first_parking(namespace, each)) for each in reconciled.clusters]
        committed = await self._commit(run, pending, phases, learned=learned, drafts=drafts, merged=merged)
        if committed is None:
            log.info("learning.run_dropped", run_id=run.run_id, event_count=run.event_count)
            return Learned(0, 0, judge_breaker)
        _log("learning.run_done", run, reconciled, committed, phases, was_open=judge_breaker.is_open)
        return Learned(
            event_count=run.event_count,
            record_count=committed.record_count,
            judge_breaker=reconciled.judge_breaker,
            entry_count=len(learned.entries),
            refusal=extracted.refusal,
        )

    async def retry_parked(
        self, namespace: Namespace, judge_breaker: JudgeBreaker, *, all_of_them: bool = False
    ) -> Learned:
        """Reconcile and commit the parked clusters that are due, or all of them; do nothing if there are none.

        A cluster that succeeds is unparked in the same commit; one that fails again waits twice as long as before.

        Cancellation: either nothing was done, or the commit is done.

        Raises:
          StorageError: the commit failed, or the parked clusters cannot be read.
        """
        phases, started_at = Stopwatch(), self.clock.utc_now()
        parked = await self.storage.list_parked_clusters(namespace)
        due = [cluster for cluster in parked if all_of_them or cluster.retry_at <= started_at]
        if not due:
            return Learned(0, 0, judge_breaker)
        llm = self.extractor.llms.current(namespace)
        with phases.stage("clustering"):
            clusters = [Cluster.of(await self.extractor.with_vectors(cluster.records)) for cluster in due]
        reconciled = await self.reconciler.reconcile(namespace, clusters, llm, judge_breaker, phases)
        run = new_run(self.clock, namespace, llm.strategy, started_at, event_count=0)
        parkings = [self._next_parking(cluster, started_at) for cluster in due]
        pending = [
            PendingCommit(cluster, parking) for cluster, parking in zip(reconciled.clusters, parkings, strict=True)
        ]
        committed = await self._commit(run, pending, phases, were_parked=True)
        if committed is None:
            log.info("learning.run_dropped", run_id=run.run_id, event_count=0)
            return Learned(0, 0, judge_breaker)
        _log("learning.retry_done", run, reconciled, committed, phases, was_open=judge_breaker.is_open)
        return Learned(0, committed.record_count, reconciled.judge_breaker)

    def is_model_failing(self, namespace: Namespace) -> bool:
        """Whether the last call of the project's model failed, and the batch was not known to be at fault."""
        return self.extractor.llms.is_model_failing(namespace)

    async def pass_over(self, namespace: Namespace, *, through: int) -> None:
        """Remove unreadable entries from the buffer; their events stay stored. Raises StorageError."""
        await self.writer.write(lambda transaction: transaction.clear_buffer(namespace, through=through))
        log.warning("learning.passed_over_damaged", namespace=namespace, through=through)

    async def note_failure(self, namespace: Namespace, snapshot: BufferSnapshot, *, problem: str) -> None:
        """Store a failed run for the list of runs. Raises StorageError."""
        strategy, now = self.extractor.llms.current(namespace).strategy, self.clock.utc_now()
        run = attrs.evolve(
            new_run(self.clock, namespace, strategy, now, event_count=snapshot.event_count), problem=problem
        )
        await self.writer.write(lambda transaction: transaction.put_run(run))
        log.warning("learning.run_failed", run_id=run.run_id, event_count=run.event_count, problem=problem)

    async def _commit(
        self,
        run: LearningRun,
        pending: Sequence[PendingCommit],
        phases: Stopwatch,
        *,
        learned: BufferSnapshot = NOTHING_WAITED,
        were_parked: bool = False,
        drafts: GraphDrafts = NO_DRAFTS,
        merged: Collection[str] = (),
    ) -> CommitResult | None:
        """Write the run; None, with nothing written, if a learned event is erased by now or another daemon learned it.

        The commit checks that each learned entry still waits and that each cluster is still parked. So several daemons
        that read one buffer learn each event once.
        """
        positions = [entry.position for entry in learned.entries]

        def write(transaction: StorageTransaction) -> CommitResult | None:
            if transaction.has_erased(run.namespace, _shown(learned)):
                return None
            if not transaction.are_waiting(run.namespace, positions):
                return None
            ours = [
                each for each in pending if not were_parked or transaction.unpark_cluster(each.if_parked.cluster_id)
            ]
            if were_parked and not ours:
                return None
            for branch in merged:
                transaction.note_merged(run.namespace, branch)
            committed = commit_clusters(transaction, ours)
            graph_problem = self.graph.commit(transaction, run.namespace, drafts)
            transaction.clear_buffer(run.namespace, through=learned.through)
            transaction.put_run(_with_outcome(attrs.evolve(run, problem=run.problem or graph_problem), committed))
            return committed

        with phases.stage("commit"):
            return await self.writer.write(write)

    def _first_parking(self, namespace: Namespace, cluster: ReconciledCluster) -> ParkedCluster:
        return ParkedCluster(
            cluster_id=self.clock.new_ulid(),
            namespace=namespace,
            records=tuple(member.record for member in cluster.members),
            problem="",
            attempt_count=1,
            retry_at=self.clock.utc_now() + timedelta(seconds=self.retry_seconds),
        )

    def _next_parking(self, cluster: ParkedCluster, now: datetime) -> ParkedCluster:
        count = cluster.attempt_count + 1
        pause = retry_delay_seconds(count, first_seconds=self.retry_seconds, most_seconds=LONGEST_PAUSE_SECONDS)
        return attrs.evolve(cluster, attempt_count=count, retry_at=now + timedelta(seconds=pause))


def new_run(
    clock: ClockAndIds, namespace: Namespace, strategy: str, started_at: datetime, *, event_count: int
) -> LearningRun:
    """The run to store, finished now, without the counts that only the commit knows."""
    return LearningRun(
        run_id=clock.new_ulid(),
        namespace=namespace,
        strategy=strategy,
        started_at=started_at,
        finished_at=clock.utc_now(),
        event_count=event_count,
        record_count=0,
        problem=None,
    )


def _shown(snapshot: BufferSnapshot) -> list[EventId]:
    return [*snapshot.source_event_ids, *(prompt.event_id for prompt in snapshot.earlier_prompts)]


def _with_outcome(run: LearningRun, committed: CommitResult) -> LearningRun:
    problem = run.problem if committed.record_count else committed.problem or run.problem
    return attrs.evolve(run, record_count=committed.record_count, problem=problem)


def _log(
    event: str,
    run: LearningRun,
    reconciled: Reconciled,
    committed: CommitResult,
    phases: Stopwatch,
    *,
    was_open: bool,
) -> None:
    """One line a run: counts and times, never contents."""
    candidates = [member for cluster in reconciled.clusters for member in cluster.members]
    log.info(
        event,
        run_id=run.run_id,
        strategy=run.strategy,
        event_count=run.event_count,
        candidate_count=len(candidates),
        embedded_count=sum(candidate.embedding is not None for candidate in candidates),
        cluster_count=len(reconciled.clusters),
        **attrs.asdict(reconciled.counts),
        merge_count=committed.merge_count,
        replaced_count=committed.replaced_count,
        record_count=committed.record_count,
        parked_count=committed.parked_count,
        judge_breaker_was_open=was_open,
        judge_breaker_is_open=reconciled.judge_breaker.is_open,
        **phases.in_whole_ms(PHASES),
    )
