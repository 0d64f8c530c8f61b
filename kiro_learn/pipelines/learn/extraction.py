"""The first phase of a learning run: the learner makes candidates of buffered events. Writes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.config import LearningConfig
from kiro_learn.errors import BatchRefused, BudgetSpent, EmbeddingError, LlmError, ModelBusy
from kiro_learn.learning.extraction.parsing import dated, record_of
from kiro_learn.learning.extraction.splitting import half_count
from kiro_learn.learning.extraction.unheld import MOST_DRAFTS, Distinct, distinct, with_unheld_terms
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, GraphDrafts
from kiro_learn.model.ids import RECORD_PREFIX, EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, embedded_text
from kiro_learn.pipelines.learn.asking import MeteredLlm, is_model
from kiro_learn.pipelines.learn.learners import KnownMemories, ModelLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import Branches
from kiro_learn.ports.models import TOO_SLOW, Drafted, Learner, Llm, LlmByProject, TextEmbedder
from kiro_learn.ports.storage.records import ObservationReads
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()

TOO_MANY = "the answer had too many memories: the first {kept} are kept, {dropped} are not"


@attrs.frozen(eq=False)
class Extracted:
    """The candidates of a batch, and the learner that wrote them."""

    candidates: Sequence[Candidate]
    llm: Llm | Learner
    snapshot: BufferSnapshot
    """The events they were learned from: the whole batch, or as much of it as went into one prompt."""
    refusal: BatchRefused | None = None
    """Why the built-in learner learned it instead of the model, which passed its health check."""
    problem: str | None = None
    """What of the answer was not kept; stored with the run."""
    graph: GraphDrafts = NO_DRAFTS
    """What a model said for the graph."""


@attrs.frozen
class _Answer:
    drafts: Distinct
    llm: Llm | Learner
    snapshot: BufferSnapshot
    refusal: BatchRefused | None = None
    graph: GraphDrafts = NO_DRAFTS


@attrs.frozen(eq=False, kw_only=True)
class Extractor:
    """Asks the project's current learner, and gives each record its vector. Holds no state of its own."""

    llms: LlmByProject
    calls: MeteredLlm
    embedder: TextEmbedder
    clock: ClockAndIds
    offload: Offload
    branches: BranchNotes
    config: LearningConfig
    known: KnownMemories
    prompt_characters: int
    """Most of one prompt, where a model is asked."""
    learns_graph: bool = False
    """Whether a model is asked for the graph too."""

    async def extract(self, namespace: Namespace, snapshot: BufferSnapshot) -> Extracted:
        """The candidates that ``snapshot`` holds, or as much of its beginning as goes into one prompt.

        If a model that passes its health check has no usable answer to a single turn, the built-in learner learns it.

        Raises:
          BatchRefused: the model passed its health check, but had no usable answer; part of the batch may be learned.
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt outlasted its time, which ends the run: another would take as long.
        """
        now = self.clock.utc_now()
        return await self._extracted(namespace, await self._answer(namespace, snapshot), now)

    async def extract_by_model(self, namespace: Namespace, snapshot: BufferSnapshot) -> Extracted:
        """As ``extract``, but never by the fallback.

        Raises:
          NoModel: there is none.
          LlmError: it may not be asked any more today, fails, or no attempt gave a usable answer.
          trio.TooSlowError: an attempt outlasted its time.
        """
        now = self.clock.utc_now()
        with self.llms.asking_model(namespace) as llm:
            await self._check_health_if_on_trial(llm, namespace)
            # It is shown nothing of what is known: what is learned again is among that, and would be left out.
            answer = await self._answer_of(llm, namespace, snapshot)
        return await self._extracted(namespace, answer, now)

    async def with_vectors(self, records: Sequence[MemoryRecord]) -> list[Candidate]:
        """Give each record its vector now if the model is at hand; the backfiller does it later if not.

        ``records``: all of one project.
        """
        if not records or not self.embedder.is_ready:
            return [Candidate(record, None) for record in records]
        texts = [embedded_text(record) for record in records]
        try:
            model = await self.embedder.learning_model(records[0].namespace)
            embeddings = await self.embedder.embed_texts(texts, model)
        except EmbeddingError as error:
            log.warning("learning.not_embedded", record_count=len(records), problem=str(error))
            return [Candidate(record, None) for record in records]
        return [Candidate(record, parts, model) for record, parts in zip(records, embeddings, strict=True)]

    async def _answer(self, namespace: Namespace, snapshot: BufferSnapshot) -> _Answer:
        """Ask the current learner; if its failure trips the breaker or the quota is spent, ask the fallback."""
        try:
            with self.llms.asking(namespace) as llm:
                await self._check_health_if_on_trial(llm, namespace)
                return await self._answer_or_refusal(llm, namespace, snapshot)
        except BatchRefused as refusal:
            if not refusal.is_one_turn:
                raise
            log.warning("learning.turn_refused", entry_count=refusal.entry_count, problem=str(refusal))
            turn = snapshot.first(refusal.entry_count)
            return attrs.evolve(await self._answer_of(self.llms.built_in, namespace, turn), refusal=refusal)
        except (LlmError, trio.TooSlowError):
            if self.llms.current(namespace) is llm:
                raise
        return await self._answer(namespace, snapshot)

    async def _answer_of(
        self, llm: Llm | Learner, namespace: Namespace, snapshot: BufferSnapshot, known: KnownMemories | None = None
    ) -> _Answer:
        """The drafts of ``llm``: of all of ``snapshot``, or of as much of its beginning as it takes at once.

        ``known``: where a model is shown what is near to it; nowhere if None.
        """
        if isinstance(llm, Llm):
            drafted = await self._by_text(llm, namespace, known).drafts_of(snapshot)
        else:
            with trio.fail_after(self.config.extraction_seconds):
                drafted = await llm.drafts_of(snapshot)
        choose = partial(_checked, drafted) if is_model(llm) else partial(distinct, drafted.drafts, most=math.inf)
        return _Answer(await self.offload(choose), llm, drafted.snapshot, graph=drafted.graph)

    def _by_text(self, llm: Llm, namespace: Namespace, known: KnownMemories | None = None) -> ModelLearner:
        return ModelLearner(
            llm=llm,
            namespace=namespace,
            calls=self.calls,
            offload=self.offload,
            config=self.config,
            known=known if is_model(llm) else None,
            prompt_characters=self.prompt_characters if is_model(llm) else math.inf,
            learns_graph=self.learns_graph,
        )

    async def _answer_or_refusal(self, llm: Llm | Learner, namespace: Namespace, snapshot: BufferSnapshot) -> _Answer:
        """As ``_answer_of``, but raises BatchRefused if the model fails on the batch and passes its health check."""
        try:
            return await self._answer_of(llm, namespace, snapshot, self.known)
        except (BudgetSpent, ModelBusy):  # neither is the fault of the batch
            raise
        except (LlmError, trio.TooSlowError) as error:
            if not is_model(llm) or not await self._passes_health_check(llm, namespace):
                raise
            part = await self._by_text(llm, namespace, self.known).portion_of(snapshot)
            raise BatchRefused(
                str(error) or TOO_SLOW,
                entry_count=len(part.snapshot.entries),
                is_one_turn=not half_count(part.snapshot.events),
            ) from error

    async def _check_health_if_on_trial(self, llm: Llm | Learner, namespace: Namespace) -> None:
        """Check the health of a model that failed in several runs, before it is asked for anything else.

        Raises LlmError or trio.TooSlowError: the check failed.
        """
        if is_model(llm) and self.llms.is_on_trial(namespace):
            await self._by_text(llm, namespace).check_health()

    async def _passes_health_check(self, llm: Llm, namespace: Namespace) -> bool:
        """Whether the model answers the health check, so that the batch is at fault."""
        try:
            await self._by_text(llm, namespace).check_health()
        except (LlmError, trio.TooSlowError) as error:
            log.warning("learning.health_check_failed", problem=str(error) or TOO_SLOW)
            return False
        return True

    async def _extracted(self, namespace: Namespace, answer: _Answer, now: datetime) -> Extracted:
        found = answer.drafts
        ids = [RecordId(RECORD_PREFIX + self.clock.new_ulid()) for _ in found.drafts]
        make_record = partial(record_of, namespace=namespace, strategy=answer.llm.strategy)
        dates = [dated(draft.source_event_ids, answer.snapshot, now) for draft in found.drafts]
        records = await self.offload(
            lambda: [
                make_record(draft, record_id, created_at=date)
                for draft, record_id, date in zip(found.drafts, ids, dates, strict=True)
            ]
        )
        if found.repeated_count or found.dropped_count:
            counts = {"repeated_count": found.repeated_count, "dropped_count": found.dropped_count}
            log.warning("learning.drafts_left_out", draft_count=len(records), **counts)
        problem = TOO_MANY.format(kept=MOST_DRAFTS, dropped=found.dropped_count) if found.dropped_count else None
        records = noted(records, await self.branches.apart(answer.snapshot), answer.snapshot)
        candidates = await self.with_vectors(records)
        return Extracted(candidates, answer.llm, answer.snapshot, answer.refusal, problem, answer.graph)


def _checked(drafted: Drafted) -> Distinct:
    """The distinct drafts of a model's answer, with terms of their turns added that their wording left out."""
    kept = distinct(drafted.drafts, most=MOST_DRAFTS)
    return attrs.evolve(kept, drafts=tuple(with_unheld_terms(kept.drafts, drafted.snapshot)))


# Notes the branch that memories were learned on, until it is merged.


@attrs.frozen(eq=False)
class BranchNotes:
    """Says of what was learned on which branch it was, and which branches are merged by now."""

    branches: Branches
    storage: ObservationReads

    async def apart(self, snapshot: BufferSnapshot) -> dict[EventId, str]:
        """The branch of each event that happened on one, but for the default branch and for those that are no more."""
        named: dict[str, set[str]] = {}
        for source in (event.source for event in snapshot.events):
            if source.branch and source.project_path:
                named.setdefault(source.project_path, set()).add(source.branch)
        apart = {folder: await self.branches.apart(folder, names) for folder, names in named.items()}
        return {
            event_id: branch
            for event_id, event in snapshot.by_source.items()
            if (branch := event.source.branch) in apart.get(event.source.project_path or "", ()) and branch
        }

    async def merged(self, namespace: Namespace, snapshot: BufferSnapshot) -> frozenset[str]:
        """The branches on which something was learned and which the default branch holds now, if something happened
        there. Raises StorageError.
        """
        sources = [event.source for event in reversed(snapshot.events)]
        folder = next((source.project_path for source in sources if source.branch and source.project_path), None)
        open_since = await self.storage.list_open_branches(namespace) if folder else {}
        if folder is None or not open_since:
            return frozenset()
        return await self.branches.merged(folder, open_since)


def noted(
    records: Sequence[MemoryRecord], branch_of: Mapping[EventId, str], snapshot: BufferSnapshot
) -> list[MemoryRecord]:
    """``records`` with the branch of the last of the events that each was learned from."""
    if not branch_of:
        return list(records)
    places = {event_id: place for place, event_id in enumerate(snapshot.source_event_ids)}
    return [
        attrs.evolve(record, branch=branch_of.get(max(record.source_event_ids, key=lambda each: places.get(each, -1))))
        for record in records
    ]
