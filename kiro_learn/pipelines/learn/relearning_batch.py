"""One batch of a relearning: extract, reconcile, then one commit in which new records replace weak ones, or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import attrs
import structlog

from kiro_learn.errors import KiroLearnError, StorageError, UnknownRecord
from kiro_learn.learning.reconciliation.judge import JudgeBreaker, essence
from kiro_learn.learning.relearning import (
    Candidate,
    PastEvent,
    PastTurn,
    Supersession,
    as_old_as_weak,
    is_far_less,
    supersessions,
    without_losses,
)
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot, LearningRun
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MODEL_STRATEGY, MemoryRecord
from kiro_learn.pipelines.learn.extraction import Extractor
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.learn.learning_run import PHASES, new_run, put_candidate, put_merge, without_forgotten
from kiro_learn.pipelines.learn.reconciliation import MergedRecord, Reconciled, Reconciler
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.events import EARLIER_PROMPTS_PER_SESSION
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction, StorageWriter
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()


@attrs.frozen(eq=False, kw_only=True)
class Batch:
    """Turns of a project that are learned again together."""

    namespace: Namespace
    turns: Sequence[PastTurn]
    weak: Sequence[MemoryRecord]
    """The stored records that were learned from these turns without a model."""
    told: frozenset[EventId]
    """Events that records of a model cite, and events that were learned again before."""
    to_replace: Collection[RecordId]
    """Records to be replaced, now or later; new records are not compared with them."""
    word_counts: Mapping[str, int]
    """The number of weak records that have each word."""
    accepts_few: bool
    """True if a person agreed that few records replace many."""


@attrs.frozen(eq=False)
class BatchLearned:
    """The result of a batch, and the project's judge breaker after it."""

    event_ids: frozenset[EventId]
    """The events that were learned again: as many as fit into one prompt."""
    left_event_ids: frozenset[EventId]
    record_count: int
    """New records that are live after the batch, except those that say only what was there before."""
    replaced_count: int
    """Weak records that were replaced by others than themselves."""
    protected_count: int
    """Weak records that stay, because no new record holds what they say."""
    judge_breaker: JudgeBreaker


@attrs.frozen
class BatchOutdated:
    """A batch that was not committed, because an event that it needs was forgotten meanwhile or has expired."""


@attrs.frozen(eq=False)
class BatchRefused:
    """A batch that was not committed: it would replace much by little, and the caller did not accept that."""

    going: tuple[MemoryRecord, ...]
    coming: tuple[MemoryRecord, ...]


@attrs.frozen(eq=False, kw_only=True)
class BatchLearner:
    """Learns a batch again. Holds no state of its own."""

    storage: StorageBackend
    extractor: Extractor
    reconciler: Reconciler
    graph: GraphLearner
    writer: StorageWriter
    clock: ClockAndIds
    offload: Offload

    async def learn(self, batch: Batch, judge_breaker: JudgeBreaker) -> BatchLearned | BatchRefused | BatchOutdated:
        """Learn again as much of ``batch`` as fits into one prompt, and replace the weak records that it covers.

        A weak record that also cites other events is replaced only once these are learned too. Without new records,
        nothing is replaced. A protected record stays unless a new one holds what it says. If the new records say far
        less than the weak ones that they replace, nothing is written, unless the batch accepts that. If ``learn``
        raises, nothing was learned or replaced, and the project's ``judge_breaker`` does not change.

        Cancellation: either nothing was done, or the commit is done.

        Raises:
          NoModel: there is no model any more.
          LlmError: the model may not be asked any more today, fails, or gave no usable answer.
          trio.TooSlowError: an attempt took too long.
          StorageError: something could not be read or written.
        """
        phases, started_at = Stopwatch(), self.clock.utc_now()
        snapshot = await self._snapshot(batch.turns)
        if await self.storage.has_expired(_shown(snapshot)):
            return BatchOutdated()
        with phases.stage("extraction"):
            extracted = await self.extractor.extract_by_model(batch.namespace, snapshot)
            drafts = (await self.graph.drafts_of(extracted.snapshot)).with_more(extracted.graph)
            candidates = [_dated(candidate, batch) for candidate in extracted.candidates]
        with phases.stage("clustering"):
            clusters = await self.reconciler.clusters(candidates, judge_breaker)
        reconciled = await self.reconciler.reconcile(
            batch.namespace, clusters, extracted.llm, judge_breaker, phases, excluded=batch.to_replace
        )
        event_count = extracted.snapshot.event_count
        run = new_run(self.clock, batch.namespace, MODEL_STRATEGY, started_at, event_count=event_count)
        run = attrs.evolve(run, problem=extracted.problem)
        done, protected = self._supersessions(batch, extracted.snapshot, reconciled)
        unchanged = _unchanged(done, reconciled)
        refused = None if batch.accepts_few else _refusal(done, reconciled, unchanged)
        if refused is not None:
            return refused
        replacements = [self._replacement(batch.namespace, each) for each in done]
        put_graph = partial(self.graph.commit, drafts=drafts)
        commit = _Commit(reconciled, replacements, unchanged, run, _shown(extracted.snapshot), put_graph)
        with phases.stage("commit"):
            outcome = await self.writer.write(commit.write)
        if outcome is None:
            return BatchOutdated()
        _log(run, outcome, reconciled, phases, protected_count=len(protected))
        learned = frozenset(extracted.snapshot.source_event_ids)
        left = frozenset(snapshot.source_event_ids) - learned
        return BatchLearned(
            learned, left, outcome.record_count, outcome.replaced_count, len(protected), reconciled.judge_breaker
        )

    async def note_failure(self, namespace: Namespace, problem: str) -> None:
        """Store a failed batch for the list of runs; if the store cannot be written, the failure is only logged."""
        run = attrs.evolve(
            new_run(self.clock, namespace, MODEL_STRATEGY, self.clock.utc_now(), event_count=0), problem=problem
        )
        try:
            await self.writer.write(lambda transaction: transaction.put_run(run))
        except StorageError as error:
            log.warning("relearning.failure_not_stored", problem=str(error))

    async def _snapshot(self, turns: Sequence[PastTurn]) -> BufferSnapshot:
        """The events of ``turns`` as entries of a buffer, with the prompts of turns that were partly learned before."""
        entries = [BufferedEvent(await self._event(past), 0, past.size_bytes) for turn in turns for past in turn.events]
        asked = [past for turn in turns for past in turn.earlier if past.kind is EventKind.PROMPT]
        earlier = [await self._event(past) for past in asked[-EARLIER_PROMPTS_PER_SESSION:]]
        return BufferSnapshot(tuple(entries), tuple(earlier))

    async def _event(self, past: PastEvent) -> Event:
        event = await self.storage.get_event_by_id(past.event_id)
        assert event is not None, "an event is kept for good"
        return event

    def _supersessions(
        self, batch: Batch, learned: BufferSnapshot, reconciled: Reconciled
    ) -> tuple[list[Supersession], tuple[MemoryRecord, ...]]:
        """Which new records replace which weak ones, and the protected records that no new one holds."""
        told = batch.told | set(learned.source_event_ids)
        covered = [record for record in batch.weak if told.issuperset(record.source_event_ids)]
        found = supersessions(_members(reconciled), covered, _shown(learned))
        kept, lost = without_losses(found, batch.word_counts, _merged(reconciled))
        unchanged = _unchanged(kept, reconciled)
        return [_by_what_is_new(each, unchanged) for each in kept], lost

    def _replacement(self, namespace: Namespace, supersession: Supersession) -> Replacement:
        return Replacement(
            replacement_id=self.clock.new_ulid(),
            namespace=namespace,
            reason=ReplacementReason.RELEARNED,
            replaced_at=self.clock.utc_now(),
            replacing=tuple(record.record_id for record in supersession.new),
            replaced=supersession.weak,
        )


def _log(
    run: LearningRun, outcome: _Outcome, reconciled: Reconciled, phases: Stopwatch, *, protected_count: int
) -> None:
    """One line a batch: counts and times, never contents."""
    log.info(
        "relearning.batch_done",
        run_id=run.run_id,
        event_count=run.event_count,
        record_count=outcome.record_count,
        replaced_count=outcome.replaced_count,
        protected_count=protected_count,
        **attrs.asdict(reconciled.counts),
        **phases.in_whole_ms(PHASES),
    )


def _dated(candidate: Candidate, batch: Batch) -> Candidate:
    return attrs.evolve(candidate, record=as_old_as_weak(candidate.record, batch.turns, batch.weak))


def _shown(learned: BufferSnapshot) -> list[EventId]:
    return [event.event_id for event in (*learned.earlier_prompts, *learned.events)]


def _members(reconciled: Reconciled) -> list[MemoryRecord]:
    return [member.record for cluster in reconciled.clusters for member in cluster.members]


def _merged(reconciled: Reconciled) -> dict[RecordId, MemoryRecord]:
    """By the id of each record that a merge replaces, the merged record."""
    return {
        record.record_id: merge.candidate.record
        for cluster in reconciled.clusters
        for merge in cluster.merges
        for record in merge.replaced
    }


def _unchanged(found: Iterable[Supersession], reconciled: Reconciled) -> dict[RecordId, RecordId]:
    """The replaced weak record for each new record that says no more than it, by the id of the new one.

    An example is a rule of a person that the model left out: it is put back word for word. No weak record stands twice.
    """
    merged = _merged(reconciled)
    pairs: dict[RecordId, RecordId] = {}
    for each in found:
        left = list(each.weak)
        for new in (record for record in each.new if record.record_id not in merged):
            place = next((place for place, weak in enumerate(left) if _says_no_more(new, weak)), None)
            if place is not None:
                pairs[new.record_id] = left.pop(place).record_id
    return pairs


def _says_no_more(new: MemoryRecord, weak: MemoryRecord) -> bool:
    return essence(new) == essence(weak) and set(new.facts) <= set(weak.facts)


def _by_what_is_new(found: Supersession, unchanged: Mapping[RecordId, RecordId]) -> Supersession:
    """``found``; if its new records all say nothing new, only with those weak records that they put back."""
    if any(record.record_id not in unchanged for record in found.new):
        return found
    same = {unchanged[record.record_id] for record in found.new}
    return attrs.evolve(found, weak=tuple(record for record in found.weak if record.record_id in same))


def _refusal(
    found: Sequence[Supersession], reconciled: Reconciled, unchanged: Mapping[RecordId, RecordId]
) -> BatchRefused | None:
    merged, same = _merged(reconciled), {*unchanged.keys(), *unchanged.values()}
    final = {record.record_id: record for record in (merged.get(e.record_id, e) for e in _members(reconciled))}
    going = tuple(record for each in found for record in each.weak if record.record_id not in same)
    coming = tuple(record for record in final.values() if record.record_id not in same)
    return BatchRefused(going, coming) if going and is_far_less(going, coming) else None


@attrs.frozen
class _Outcome:
    record_count: int
    replaced_count: int


@attrs.frozen(eq=False)
class _Commit:
    """All writes of a batch, in one commit: new records, then replacements, then merges, then the graph."""

    reconciled: Reconciled
    replacements: Sequence[Replacement]
    unchanged: Mapping[RecordId, RecordId]
    """By the id of a new record that says nothing new, that of the weak one that it replaces; neither is counted."""
    run: LearningRun
    shown: Sequence[EventId]
    """Events that the learner was shown."""
    put_graph: Callable[[StorageTransaction, Namespace], str | None]
    """Puts the drafts into the graph; returns why not all of them are learned, or None."""

    def write(self, transaction: StorageTransaction) -> _Outcome | None:
        """Write all; None, with nothing written, if an event that the learner was shown is gone by now."""
        is_erased = transaction.has_erased(self.run.namespace, self.shown)
        if is_erased or transaction.has_forgotten(self.run.namespace, self.shown):
            return None
        clusters = [without_forgotten(cluster, transaction) for cluster in self.reconciled.clusters]
        new = {member.record.record_id for cluster in clusters for member in cluster.members}
        for cluster in clusters:
            for member in cluster.members:
                put_candidate(transaction, member)
        replaced = frozenset[RecordId]().union(
            *(_replace(transaction, each) for each in _with_stored_records(self.replacements, new))
        )
        for cluster in clusters:
            for merge in cluster.merges:
                if _try_merge(transaction, merge):
                    new -= {record.record_id for record in merge.replaced}
                    new.add(merge.candidate.record.record_id)
        graph_problem = self.put_graph(transaction, self.run.namespace)
        outcome = _Outcome(len(new - self.unchanged.keys()), len(replaced.difference(self.unchanged.values())))
        problem = self.run.problem or graph_problem
        transaction.put_run(attrs.evolve(self.run, record_count=outcome.record_count, problem=problem))
        return outcome


def _with_stored_records(replacements: Iterable[Replacement], new: Collection[RecordId]) -> Iterator[Replacement]:
    """``replacements``, each with only those new records that are in ``new``; left out if it has none."""
    for replacement in replacements:
        replacing = tuple(record_id for record_id in replacement.replacing if record_id in new)
        if replacing:
            yield attrs.evolve(replacement, replacing=replacing)


def _replace(transaction: StorageTransaction, replacement: Replacement) -> frozenset[RecordId]:
    """Replace the records that still exist; returns which. One may have been forgotten meanwhile."""
    try:
        transaction.attempt(lambda inner: inner.replace_memory_records(replacement))
    except UnknownRecord as error:
        rest = tuple(record for record in replacement.replaced if record.record_id != error.record_id)
        if len(rest) == len(replacement.replaced):
            raise
        return _replace(transaction, attrs.evolve(replacement, replaced=rest)) if rest else frozenset()
    return frozenset(record.record_id for record in replacement.replaced)


def _try_merge(transaction: StorageTransaction, merge: MergedRecord) -> bool:
    """Merge records and return True; if the merge fails (one may be forgotten by now), they stay as they are."""
    try:
        transaction.attempt(lambda inner: put_merge(inner, merge))
    except KiroLearnError as error:
        log.warning("relearning.merge_failed", problem=str(error))
        return False
    return True
