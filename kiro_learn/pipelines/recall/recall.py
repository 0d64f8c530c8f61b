"""Answers a prompt with the few memories that matter, within a hard budget, or with silence, never with an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.config import RecallConfig
from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.learning.extraction.extractive.durable import only_lays_down
from kiro_learn.model.event import Body
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Report, Retrieval
from kiro_learn.pipelines.recall.context import Context, ContextBuilder, ContextRequest
from kiro_learn.pipelines.recall.excerpting import found, sureness_of
from kiro_learn.pipelines.recall.finder import Finder, Findings
from kiro_learn.pipelines.recall.reading import FileNotes, Reading, SlotLines
from kiro_learn.pipelines.recall.recall_trace import (
    NOTHING_ASKED,
    NOTHING_NEEDED,
    NOTHING_NEW,
    Factors,
    RecallTrace,
    report_of,
)
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.session_prompts import SessionPrompt, SessionPrompts
from kiro_learn.retrieval.query.prompt_kind import GOALS, PromptKind, kind_of, names_in
from kiro_learn.retrieval.query.question import Query, query_text
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.ranking.calibrated import REFINED_COUNT
from kiro_learn.retrieval.ranking.confidence import OlderByNewer, Sureness, dependents
from kiro_learn.retrieval.rendering.brief import BETWEEN
from kiro_learn.retrieval.rendering.excerpts import Excerpted, render_excerpts
from kiro_learn.retrieval.rendering.repeats import (
    branch_note,
    each_once,
    newer_above,
    notes_of_amended,
    rests_on,
    text_of,
    told_alone,
)
from kiro_learn.retrieval.rendering.report import HEADING, Rendered, render
from kiro_learn.runtime.admission import AdmissionQueue, PromptPriority
from kiro_learn.runtime.supervisor import catch_errors, reason

log = structlog.get_logger()

LEASE_SHARE = 0.15
"""The share of the budget for which a prompt is worked on alone. Eight prompts side by side would all be answered as
late as the last. One by one, the first is as fast as if it were alone, and the last is faster too (docs/benchmarks.md).
"""

PATIENCE_SHARE = 0.5
"""The share of the budget after which a prompt does not wait any longer for its turn."""

SEARCH_SHARE = 0.8
"""The share of the budget that searching may take; the rest is for reading the records and writing the block."""

MOST_MORE = 60
"""The most hits that are searched for in addition to those that are wanted, one for each memory that the session was
told before. Of more memories than this, most are not about this prompt."""


@attrs.frozen(eq=False, kw_only=True)
class Recall:
    """Answers a prompt: search, floor, cut, read the records, write the block; below it the graph's part, if that is
    set. Every read is a stage of the trace's stopwatch, so ``degraded`` can name the stage that was cut off.
    """

    finder: Finder
    _reading: Reading
    _config: RecallConfig
    _sessions: SessionPrompts
    _file_notes: FileNotes
    _slot_lines: SlotLines
    _contexts: ContextBuilder
    """Makes the graph's part, where prompts are told that too."""
    _keep_report: Callable[[Report], None]
    _factors: Factors
    _prompt_priority: PromptPriority
    _clock: ClockAndIds
    _admission: AdmissionQueue = attrs.field(init=False)

    @_admission.default
    def _queue(self) -> AdmissionQueue:
        seconds = self._config.budget_seconds
        return AdmissionQueue(lease_seconds=seconds * LEASE_SHARE, patience_seconds=seconds * PATIENCE_SHARE)

    async def answer(
        self,
        namespace: Namespace,
        body: Body,
        *,
        session_id: str | None = None,
        event_id: EventId | None = None,
        said_at: datetime | None = None,
        folder: str | None = None,
        agent: str | None = None,
        branch: str | None = None,
        deadline: float = math.inf,
    ) -> Retrieval:
        """The memories of ``namespace`` that help with the prompt ``body``, by the end of the budget at the latest.

        Earlier if ``deadline`` (trio's clock) is. If there is a session, memories that it was told by another event
        are left out. Nothing is raised: ``degraded`` names whatever fails or is late.

        Args:
          said_at: when the prompt was said; a session that paused for long may set another goal.
          folder: the folder of the files that memories cite; None if it is not known.
          agent: the agent that asks, for the retrieval log.
          branch: the branch that is checked out in ``folder``.
        """
        trace = RecallTrace(
            namespace=namespace,
            session_id=session_id,
            event_id=event_id,
            agent=agent,
            branch=branch,
            factors=self._factors,
        )
        prompt = self._sessions.prompt(namespace, session_id, event_id, said_at)
        outcome: object = None
        with trio.move_on_at(min(deadline, trio.current_time() + self._config.budget_seconds)) as budget:
            with self._prompt_priority.prompt(), self._admission.queued() as turn:
                with trace.stopwatch.stage("turn"):
                    await turn.begin()
                outcome = await catch_errors("recall", lambda: self._follow(trace, body, prompt, folder))
        if budget.cancelled_caught:
            trace.note_late()
        elif isinstance(outcome, Exception):
            trace.note_failure(outcome)
        latency_ms = trace.stopwatch.elapsed_ms()
        report = await catch_errors("recall book", lambda: self._book(trace, latency_ms))
        found = report.records if isinstance(report, Report) else ()
        block = trace.block
        return Retrieval(
            block.text, block.rendered.record_ids, latency_ms, tuple(trace.degraded), found, block.told_ids
        )

    def take_back(self, namespace: Namespace, session_id: str, retrieval: Retrieval) -> None:
        """Note that an answer was not sent after all: the session may still be told what it says."""
        self._sessions.take_back(namespace, session_id, retrieval.told_ids)

    async def _book(self, trace: RecallTrace, latency_ms: float) -> Report:
        retrieval_id, at = self._clock.new_ulid(), self._clock.utc_now()
        report = report_of(trace, retrieval_id=retrieval_id, at=at, latency_ms=latency_ms)
        self._keep_report(report)
        _log(report)
        return report

    async def _follow(self, trace: RecallTrace, body: Body, prompt: SessionPrompt, folder: str | None) -> None:
        """Answer one prompt, from its text to the block."""
        text = query_text(body)
        trace.query_characters = len(text)
        # Only the beginning and the end of the text are looked at, so this takes 5 ms at most for any length.
        query = Query.of_prompt(text)
        with trace.stopwatch.stage("profile"):
            trace.block.slot_line = await self._slot_lines.of(trace.namespace, folder, query, prompt)
        worth = worth_of(text, query, prompt, self._config)
        trace.is_task = worth.is_task
        most_bytes = worth.most_bytes - trace.block.slot_bytes
        if worth.names and most_bytes > 0:
            trace.about = await self._reading.about(trace, worth.names)
        # If the names could not be looked up, the search runs: it says why, and has a damaged index of words rebuilt.
        if most_bytes <= 0 or (trace.about == frozenset() and not trace.degraded):
            trace.silent_because = silence_of(query)
            return
        if self._config.pipeline != "graph" or trace.about is not None:
            await self._search(trace, query, prompt)
        else:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._search_graph, trace, text, folder)
                await self._search(trace, query, prompt)
        if trace.hits:
            wanted = self._config.result_limit
            await self._reading.read_passages(trace, most=wanted)
            await self._reading.read(trace)
            trace.leave_out_told(prompt.told_before(), most=wanted)
            await self._reading.note_corrected(trace)
            if folder:
                with trace.stopwatch.stage("files"):
                    trace.notes = await self._file_notes.of(folder, trace.records)
            # Another prompt of the session may have been answered meanwhile. From here on no other task comes between.
            trace.leave_out_told(prompt.told_before(), most=wanted)
        await self._tell_graph(trace, prompt, most_bytes=most_bytes)
        if trace.hits:
            self._render(trace, query.meaning, most_bytes=most_bytes - trace.block.graph_bytes)
        prompt.told(trace.block.told_ids)

    async def _search(self, trace: RecallTrace, query: Query, prompt: SessionPrompt) -> None:
        told, wanted = prompt.told_before(), self._config.result_limit
        looked_at = max(wanted, REFINED_COUNT)
        findings = await self.finder.find(
            trace.namespace,
            query,
            limit=wanted,
            beyond=min(len(told), MOST_MORE) + looked_at - wanted,
            with_successors=True,
            patience_seconds=self._search_patience(),
            stopwatch=trace.stopwatch,
        )
        if trace.branch:
            trace.of_branch = await self._reading.of_branch(trace, findings, trace.branch)
        trace.take_findings(findings, told=told, most=looked_at)

    def _search_patience(self) -> float:
        """Seconds that are left for the search of the prompt under way; negative if there are none."""
        left = trio.current_effective_deadline() - trio.current_time()
        return left - self._config.budget_seconds * (1 - SEARCH_SHARE)

    async def _search_graph(self, trace: RecallTrace, text: str, folder: str | None) -> None:
        patience = self._search_patience()
        trace.in_graph.is_asked = True
        request = ContextRequest(message=text, folder=folder, tells_memories=False)
        search = partial(self._contexts.search_for, trace.namespace, request, patience_seconds=patience)
        with trace.stopwatch.stage("graph"):
            await trace.in_graph.run(search)
        trace.degraded += trace.in_graph.reasons()

    async def _tell_graph(self, trace: RecallTrace, prompt: SessionPrompt, *, most_bytes: int) -> None:
        """Choose the graph's part of the block. No other task runs in between, though ``told`` is a coroutine."""
        searched = trace.in_graph.result
        if searched is None:
            return
        heading = len(HEADING) + len(BETWEEN) if trace.block.slot_line else 0

        async def told() -> Context:
            return self._contexts.told(searched, prompt.told_before(), most_bytes=max(0, most_bytes - heading))

        outcome = await catch_errors("graph", told)
        if isinstance(outcome, Exception):
            trace.degraded.append(f"graph: {reason(outcome)}")
        else:
            trace.take_graph(outcome)

    def _render(self, trace: RecallTrace, query: str, *, most_bytes: int) -> None:
        with trace.stopwatch.stage("render"):
            if trace.silent_because == NOTHING_NEW:
                trace.weigh_told(_sureness(trace, trace.told_before, trace.findings, query))
                return
            telling = newer_above(each_once(trace.records), trace.older_by_newer)
            repeated = frozenset(each.record_id for each in trace.records) - {each.record_id for each in telling}
            trace.sureness = _sureness(trace, telling, trace.new_findings, query)
            if trace.about is None:
                most_bytes = trace.sureness.bytes_worth(most_bytes)
            if not most_bytes or not telling:
                trace.note_irrelevant()
                return
            rendered = self._rendered(trace, telling, query, most_bytes)
            while alone := told_alone(rendered.record_ids, trace.older_by_newer):
                telling = tuple(record for record in telling if record.record_id not in alone)
                rendered = self._rendered(trace, telling, query, most_bytes)
        trace.take_block(rendered, repeated=repeated)

    def _rendered(self, trace: RecallTrace, telling: Sequence[MemoryRecord], query: str, most_bytes: int) -> Rendered:
        if self._config.format == "documented":
            return render(telling, query, most_bytes=most_bytes, scores=trace.scores_by_place(telling))
        return render_excerpts(_found_of(trace, telling), terms(query), most_bytes=most_bytes)


def _sureness(trace: RecallTrace, telling: Sequence[MemoryRecord], findings: Findings | None, query: str) -> Sureness:
    found = sureness_of(_found_of(trace, telling), findings, query)
    return found.of_task if trace.is_task else found


def _found_of(trace: RecallTrace, telling: Sequence[MemoryRecord]) -> list[Excerpted]:
    amended = (
        _resting(telling, trace.older_by_newer) | trace.corrected | notes_of_amended(telling, trace.older_by_newer)
    )
    scores = trace.scores_by_place(telling)
    notes = {
        record.record_id: "; ".join(
            filter(
                None,
                (
                    branch_note(record, trace.branch),
                    amended.get(record.record_id),
                    trace.notes.get(record.record_id),
                ),
            )
        )
        for record in telling
    }
    return [
        found(record, score, trace.passages.get(record.record_id), notes[record.record_id])
        for record, score in zip(telling, scores, strict=True)
    ]


def _resting(telling: Sequence[MemoryRecord], older_by_newer: OlderByNewer) -> dict[RecordId, str]:
    """For each of ``telling`` that names something overturned later, the note that says so."""
    known = {record.record_id: record for record in telling}
    changes = {*older_by_newer.keys()}.union(*older_by_newer.values())
    texts = {each: text_of(record) if each in changes else record.title.lower() for each, record in known.items()}
    moments = {record_id: record.created_at for record_id, record in known.items()}
    return {old: rests_on(known[new]) for old, new in dependents(older_by_newer, texts, moments).items()}


def _log(report: Report) -> None:
    log.info(
        "recall.answered",
        record_count=sum(record.shown for record in report.records),
        context_bytes=report.context_bytes,
        degraded=list(report.degraded),
        duration_ms=report.latency_ms,
    )


# How many bytes of memory a prompt is worth, by its kind and by the settings.


@attrs.frozen
class Worth:
    """The most that a prompt is told, and on which condition."""

    most_bytes: int
    names: tuple[str, ...] = ()
    """The prompt is told only memories that have one of these names; empty: any memory."""
    is_task: bool = False
    """Whether the prompt sets a task and asks nothing: it is told only what surely helps."""


NOTHING = Worth(0)


def worth_of(text: str, query: Query, prompt: SessionPrompt, config: RecallConfig) -> Worth:
    """The worth of ``text``, whose question is ``query``; notes the goal that the prompt sets."""
    if config.prompts == "none" or asks_nothing(query.meaning) or only_lays_down(text):
        return NOTHING
    kind = kind_of(text, query.meaning, sets_goal=prompt.may_set_goal)
    if kind in GOALS:
        prompt.set_goal()
    if config.prompts == "all" or kind in {PromptKind.QUESTION, PromptKind.PAST}:
        return Worth(config.context_bytes)
    task = Worth(min(config.context_bytes, config.task_bytes), is_task=True)
    if kind is PromptKind.TASK:
        return task
    names = () if kind is PromptKind.BARE_COMMAND else names_in(query.meaning)
    return attrs.evolve(task, names=names) if names else NOTHING


def silence_of(query: Query) -> str:
    """The reason why a prompt that is worth no bytes is told nothing."""
    return NOTHING_ASKED if asks_nothing(query.meaning) else NOTHING_NEEDED
