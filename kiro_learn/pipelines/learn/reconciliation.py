"""The second phase of a learning run: merges candidates that repeat each other or stored records. Writes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Protocol

import attrs
import structlog
import trio

from kiro_learn.config import ReconciliationConfig
from kiro_learn.errors import BudgetSpent, EmbeddingError, LlmError, StorageError
from kiro_learn.learning.reconciliation.judge import (
    TOLD_AGAIN_SIMILARITY,
    JudgeBreaker,
    judge_prompt,
    near_identical,
    parse_verdict,
    says_again,
)
from kiro_learn.learning.reconciliation.plan import (
    Cluster,
    Merge,
    MergePlan,
    Neighbor,
    Plan,
    Verdict,
    cluster,
    is_of_act,
    is_same_principle,
    merged_record,
    plan,
    without_lossy_merges,
)
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import JUDGED_STRATEGY, MemoryRecord, embedded_text
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.pipelines.learn.asking import MeteredLlm, is_model, until_usable
from kiro_learn.pipelines.recall.retrievers import NearestRecords
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import Learner, Llm
from kiro_learn.ports.storage.records import ObservationReads, RecordReads
from kiro_learn.retrieval.ranking.succession import replaced_by
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()

RULE_STRATEGY = "extractive-reconciled"
"""The strategy of records that the rule merged, without a model."""


MOST_RULES = 200
"""The most stored rules that a new one is compared with: the hard ones, then the newest."""

SAME = 1.0
"""The similarity of a rule that says the same of the same act."""


class RuleReads(RecordReads, ObservationReads, Protocol):
    """Reads of records, and of rules."""


@attrs.frozen(eq=False)
class MergedRecord:
    """A new record, and the records that it replaces."""

    candidate: Candidate
    replaced: tuple[MemoryRecord, ...]
    """Members of the cluster, then stored records."""
    replacement_id: str
    merged_at: datetime


@attrs.frozen(eq=False)
class ReconciledCluster:
    """The members and merges of one cluster, ready to be written."""

    members: tuple[Candidate, ...]
    """All members, including those that a merge replaces: the history keeps them."""
    merges: tuple[MergedRecord, ...] = ()


@attrs.define
class Counts:
    """Counts of the judge's calls and verdicts in a run."""

    judge_call_count: int = 0
    judge_failure_count: int = 0
    """Clusters for which the judge gave no usable verdict."""
    kept_separate_count: int = 0
    """Clusters of several records of which none were merged."""
    direct_count: int = 0
    """Records that were not compared, because reconciliation is off or the judge's breaker is open."""


@attrs.frozen(eq=False)
class Reconciled:
    """All clusters of a run, in order, with counts and the breaker after the run."""

    clusters: tuple[ReconciledCluster, ...]
    counts: Counts
    judge_breaker: JudgeBreaker


@attrs.frozen(eq=False, kw_only=True)
class Reconciler:
    """Finds records that say the same, and merges them. A model judges where one learns, the rule elsewhere.

    Holds no state of its own.
    """

    storage: RuleReads
    indexes: NearestRecords
    calls: MeteredLlm
    with_vectors: Callable[[Sequence[MemoryRecord]], Awaitable[list[Candidate]]]
    offload: Offload
    clock: ClockAndIds
    config: ReconciliationConfig
    prompt_characters: int
    """The most characters of one prompt."""

    async def clusters(self, candidates: Sequence[Candidate], breaker: JudgeBreaker) -> list[Cluster]:
        """The clusters in which ``candidates`` are reconciled and committed; one a candidate if none are compared."""
        if not self._compares(breaker):
            return [Cluster.of([candidate]) for candidate in candidates]
        return await self.offload(lambda: cluster(candidates, threshold=self.config.intra_batch_similarity))

    async def reconcile(
        self,
        namespace: Namespace,
        clusters: Sequence[Cluster],
        llm: Llm | Learner,
        breaker: JudgeBreaker,
        phases: Stopwatch,
        *,
        excluded: Iterable[RecordId] = (),
    ) -> Reconciled:
        """Plan the merges of each cluster, one after the other; a failure in one does not affect the others.

        The stored records in ``excluded`` are not compared.

        If the breaker is open when the run begins, nothing is compared, and that closes the breaker. If it opens during
        the run, the remaining clusters are not compared.
        """
        one_pass = _Pass(self, namespace, llm, phases, breaker, taken=set(excluded))
        if self._compares(breaker):
            results = [await one_pass.reconcile(one) for one in clusters]
        else:
            results = [one_pass.unmerged(one) for one in clusters]
        counts = one_pass.counts
        after = one_pass.breaker.after_run(failed=counts.judge_failure_count > 0)
        return Reconciled(tuple(results), counts, after)

    def _compares(self, breaker: JudgeBreaker) -> bool:
        return self.config.enabled and not breaker.is_open


@attrs.define(eq=False)
class _Pass:
    """One pass over the clusters of a run, and the decisions so far."""

    dependencies: Reconciler
    namespace: Namespace
    llm: Llm | Learner
    phases: Stopwatch
    breaker: JudgeBreaker
    counts: Counts = attrs.Factory(Counts)
    taken: set[RecordId] = attrs.Factory(set)
    """Stored records that a cluster replaces, or that are excluded: a later cluster cannot replace them too."""

    def unmerged(self, one: Cluster) -> ReconciledCluster:
        self.counts.direct_count += len(one.members)
        return ReconciledCluster(one.members)

    async def reconcile(self, one: Cluster) -> ReconciledCluster:
        if self.breaker.is_open:
            return self.unmerged(one)
        with self.phases.stage("neighbor_lookup"):
            near = await self._neighbors(one)
            if not is_model(self.llm):
                one = await self._without_told_again(one, near)
                if not one.members:
                    return ReconciledCluster(())
            near = [each for each in near if each.similarity >= self.dependencies.config.neighbor_similarity]
            near = _without_replaced(one, near)
            neighbors = [*near, *await self._same_principles(one, {each.record.record_id for each in near})]
        if not neighbors and len(one.members) == 1:
            return ReconciledCluster(one.members)
        with self.phases.stage("judge"):
            found, strategy = await self._duplicates(one, neighbors)
            planned = await self._planned(one, neighbors, found, strategy)
            merges = [await self._merged(merge_plan, strategy) for merge_plan in planned.merges]
        self._note(planned)
        return ReconciledCluster(one.members, tuple(merges))

    async def _planned(
        self, one: Cluster, neighbors: Sequence[Neighbor], found: Sequence[Merge], strategy: str
    ) -> Plan:
        """The merges of a cluster. Those by a model are checked for lost content; the rule changes no words."""
        planned = plan(one, neighbors, found)
        if strategy != JUDGED_STRATEGY or not planned.merges:
            return planned
        left = await self.dependencies.offload(partial(without_lossy_merges, planned))
        lost_count = _record_count(planned) - _record_count(left)
        if lost_count:
            log.warning("reconciliation.lossy_merge", kept_apart_count=lost_count)
        return left

    async def _neighbors(self, one: Cluster) -> list[Neighbor]:
        """The nearest stored records above the threshold; none if a lookup fails, which costs only a merge."""
        if one.centroid is None:
            return []
        limit = self.dependencies.config.neighbor_count + len(self.taken)
        least = self.dependencies.config.neighbor_similarity
        if not is_model(self.llm):
            least = min(least, TOLD_AGAIN_SIMILARITY)
        try:
            ranking = await self.dependencies.indexes.rank(
                self.namespace, one.centroid, limit, wholes_only=True, model=one.model
            )
            near = {
                hit.record_id: hit.score
                for hit in ranking.hits
                if hit.score >= least and hit.record_id not in self.taken
            }
            nearest = list(near)[: self.dependencies.config.neighbor_count]
            records = await self.dependencies.storage.get_memory_records(nearest)
        except (EmbeddingError, StorageError) as error:
            log.warning("reconciliation.neighbors_unknown", problem=str(error))
            return []
        return [Neighbor(record, near[record.record_id]) for record in records if _is_own(record)]

    async def _without_told_again(self, one: Cluster, near: Sequence[Neighbor]) -> Cluster:
        """``one`` without answers that only repeat a memory: an echo teaches nothing."""
        known = [neighbor.record for neighbor in near]
        left = await self.dependencies.offload(
            lambda: tuple(
                member for member in one.members if not any(says_again(member.record, each) for each in known)
            )
        )
        return one if len(left) == len(one.members) else attrs.evolve(one, members=left)

    async def _same_principles(self, one: Cluster, near: Collection[RecordId]) -> list[Neighbor]:
        """Stored rules in which the person said the same of the same act as a new rule, however far the vectors."""
        rules = [member.record for member in one.members if is_of_act(member.record)]
        if not rules:
            return []
        try:
            known = await self.dependencies.storage.list_rules_first(self.namespace, limit=MOST_RULES, offset=0)
        except StorageError as error:
            log.warning("reconciliation.rules_unknown", problem=str(error))
            return []
        return [
            Neighbor(record, SAME)
            for record in known
            if record.record_id not in near
            and record.record_id not in self.taken
            and _is_own(record)
            and any(is_same_principle(rule, record) for rule in rules)
        ][: self.dependencies.config.neighbor_count]

    async def _duplicates(self, one: Cluster, neighbors: Sequence[Neighbor]) -> tuple[list[Merge], str]:
        """The groups to merge, and the strategy of the judge or of the rule that found them."""
        if is_model(self.llm):
            try:
                verdict = await self._judged(self.llm, one, neighbors)
            except BudgetSpent as error:
                log.info("reconciliation.not_judged", problem=str(error))
            else:
                return [verdict] if isinstance(verdict, Merge) else [], JUDGED_STRATEGY
        records = [*(member.record for member in one.members), *(neighbor.record for neighbor in neighbors)]
        return await self.dependencies.offload(partial(near_identical, records)), RULE_STRATEGY

    async def _judged(self, llm: Llm, one: Cluster, neighbors: Sequence[Neighbor]) -> Verdict | None:
        """The judge's verdict; None if there is none: then nothing is merged.

        Raises:
          BudgetSpent: no model may be asked any more today.
        """
        prompt = judge_prompt(one, neighbors, most_characters=self.dependencies.prompt_characters)
        if prompt is None:
            return None
        config = self.dependencies.config
        try:
            verdict = await until_usable(
                lambda _before: self._ask(llm, prompt),
                attempts=config.judge_attempts,
                failed="reconciliation.attempt_failed",
            )
        except BudgetSpent:
            raise
        except LlmError:  # until_usable logged it
            pass
        except trio.TooSlowError:
            log.warning("reconciliation.judge_too_slow", seconds=config.judge_seconds)
        else:
            self.breaker = self.breaker.after_verdict()
            return verdict
        self.breaker = self.breaker.after_failure()
        self.counts.judge_failure_count += 1
        return None

    async def _ask(self, llm: Llm, prompt: str) -> Verdict:
        seconds = self.dependencies.config.judge_seconds
        self.counts.judge_call_count += 1
        try:
            answer = await self.dependencies.calls.ask(self.namespace, llm, prompt, seconds=seconds)
        except BudgetSpent:  # nothing was sent
            self.counts.judge_call_count -= 1
            raise
        return await self.dependencies.offload(partial(parse_verdict, answer))

    async def _merged(self, merge_plan: MergePlan, strategy: str) -> MergedRecord:
        record_id = RecordId(RECORD_PREFIX + self.dependencies.clock.new_ulid())
        now = self.dependencies.clock.utc_now()
        # A record that is learned again is no newer than it was, so a merged record is as old as its newest part.
        learned_at = max(record.created_at for record in merge_plan.records)
        record = merged_record(merge_plan, record_id=record_id, strategy=strategy, created_at=learned_at)
        candidate = await self._with_vector(record, merge_plan)
        replacement_id = self.dependencies.clock.new_ulid()
        return MergedRecord(candidate, merge_plan.records, replacement_id=replacement_id, merged_at=now)

    async def _with_vector(self, record: MemoryRecord, merge_plan: MergePlan) -> Candidate:
        """``record`` with its vectors, taken from a member with the same text if there is one."""
        text = embedded_text(record)
        same = [member for member in merge_plan.members if embedded_text(member.record) == text]
        return attrs.evolve(same[0], record=record) if same else (await self.dependencies.with_vectors([record]))[0]

    def _note(self, planned: Plan) -> None:
        self.taken |= {near.record.record_id for merge_plan in planned.merges for near in merge_plan.neighbors}
        if not planned.merges:
            self.counts.kept_separate_count += 1
        if planned.unknown_count:
            log.warning("reconciliation.unknown_cited", unknown_count=planned.unknown_count)


def _without_replaced(one: Cluster, near: Sequence[Neighbor]) -> list[Neighbor]:
    """``near`` without records that a member or another neighbor says no longer hold: they cannot be repetitions."""
    known = [neighbor.record for neighbor in near]
    telling = [*(member.record for member in one.members), *known]
    over = frozenset[RecordId]().union(*(replaced_by(each, known) for each in telling))
    return [neighbor for neighbor in near if neighbor.record.record_id not in over]


def _record_count(planned: Plan) -> int:
    return sum(len(merge_plan.records) for merge_plan in planned.merges)


def _is_own(record: MemoryRecord) -> bool:
    """Whether the record is not shared by somebody else: shared records are never merged, as they may be taken back."""
    return record.strategy != SHARED_STRATEGY
