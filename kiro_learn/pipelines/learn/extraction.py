"""The first phase of a learning run: a learner makes candidates of buffered events. Nothing is written."""

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
    """The events that the candidates were learned from: the whole batch, or the beginning that fit into one prompt."""
    refusal: BatchRefused | None = None
    """Why the built-in learner learned the batch in place of a model that passed its health check."""
    problem: str | None = None
    """Which part of the answer was not kept; stored with the run."""
    graph: GraphDrafts = NO_DRAFTS
    """The drafts for the graph that a model proposed."""


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
    """The most characters of one prompt for a model."""
    learns_graph: bool = False
    """Whether a model is asked for the graph too."""

    async def extract(self, namespace: Namespace, snapshot: BufferSnapshot) -> Extracted:
        """The candidates that ``snapshot`` holds, or as much of its beginning as fits into one prompt.

        If a model passes its health check, but has no usable answer to a single turn, the built-in learner learns that
        turn.

        Raises:
          BatchRefused: the model passed its health check, but had no usable answer; part of the batch may be learned.
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt took too long, which ends the run: another would take as long.
        """
        now = self.clock.utc_now()
        return await self._extracted(namespace, await self._answer(namespace, snapshot), now)

    async def extract_by_model(self, namespace: Namespace, snapshot: BufferSnapshot) -> Extracted:
        """Like ``extract``, but only with the model, never with the fallback.

        Raises:
          NoModel: there is no model.
          LlmError: the model may not be asked any more today, fails, or no attempt gave a usable answer.
          trio.TooSlowError: an attempt took too long.
        """
        now = self.clock.utc_now()
        with self.llms.asking_model(namespace) as llm:
            await self._check_health_if_on_trial(llm, namespace)
            # The model is not shown known memories: those that are learned again are among them, and it would leave
            # them out.
            answer = await self._answer_of(llm, namespace, snapshot)
        return await self._extracted(namespace, answer, now)

    async def with_vectors(self, records: Sequence[MemoryRecord]) -> list[Candidate]:
        """Give each record its vectors now if the model is loaded; otherwise the backfiller does it later.

        ``records``: records of one project.
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
        """The drafts of ``llm`` from ``snapshot``, or from as much of its beginning as ``llm`` takes at once.

        ``known``: finds the memories that a model is shown; None: it is shown none.
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
        """Like ``_answer_of``, but raises BatchRefused if the model fails on the batch and passes its health check."""
        try:
            return await self._answer_of(llm, namespace, snapshot, self.known)
        except (BudgetSpent, ModelBusy):  # the batch is not at fault
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
        """Whether the model answers the health check, which means that the batch is at fault."""
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
    """The distinct drafts of a model's answer, with the terms of their turns that the model's wording left out."""
    kept = distinct(drafted.drafts, most=MOST_DRAFTS)
    return attrs.evolve(kept, drafts=tuple(with_unheld_terms(kept.drafts, drafted.snapshot)))


# Notes the branch on which memories were learned, until it is merged.


@attrs.frozen(eq=False)
class BranchNotes:
    """Knows on which branch events happened, and which branches are merged by now."""

    branches: Branches
    storage: ObservationReads

    async def apart(self, snapshot: BufferSnapshot) -> dict[EventId, str]:
        """The branch of each event that happened on one, except the default branch and deleted branches."""
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
        """The branches with memories that the default branch contains by now, if an event of ``snapshot`` has one.

        Raises StorageError.
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
    """``records``, each with the branch of the last event that it was learned from."""
    if not branch_of:
        return list(records)
    places = {event_id: place for place, event_id in enumerate(snapshot.source_event_ids)}
    return [
        attrs.evolve(record, branch=branch_of.get(max(record.source_event_ids, key=lambda each: places.get(each, -1))))
        for record in records
    ]
