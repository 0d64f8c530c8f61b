"""Answers prompts with the context block of the whole memory, in place of the hybrid search alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime

import attrs
import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.event import Body
from kiro_learn.model.feedback import ToldId
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import EventId, RecordId, is_record_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import FoundRecord, Ranking, Report, Retrieval
from kiro_learn.pipelines.recall.context import Context, ContextBuilder, ContextRequest
from kiro_learn.pipelines.recall.prompt_worth import bytes_for, silence_of
from kiro_learn.pipelines.recall.recall_trace import CUT_OFF, FAILED, NOTHING_NEW, NOTHING_RELEVANT
from kiro_learn.pipelines.recall.slot_line import SlotLines
from kiro_learn.pipelines.recall.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.session_prompts import SessionPrompts
from kiro_learn.retrieval.query.question import Query, query_text
from kiro_learn.retrieval.rendering.brief import told_first
from kiro_learn.runtime.supervisor import catch_errors, reason


class GraphRecall:
    """Has the same public methods as ``Recall``."""

    def __init__(
        self,
        contexts: ContextBuilder,
        config: RecallConfig,
        *,
        sessions: SessionPrompts,
        slot_lines: SlotLines,
        keep_report: Callable[[Report], None],
        clock: ClockAndIds,
    ) -> None:
        self._contexts = contexts
        self._config = config
        self._sessions = sessions
        self._slot_lines = slot_lines
        self._keep_report = keep_report
        self._clock = clock

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
        branch: str | None = None,  # noqa: ARG002  # nothing of the graph is of a branch
        deadline: float = math.inf,
    ) -> Retrieval:
        """The block for a prompt, by the end of the budget at the latest. A session is told each thing once.

        Nothing is raised: whatever fails or is late is named in ``degraded``.
        """
        stopwatch = Stopwatch()
        asker = (namespace, session_id, event_id, agent)
        prompt = self._sessions.prompt(namespace, session_id, event_id, said_at)
        outcome, text = None, query_text(body)
        query = Query.of_prompt(text)
        line = await self._slot_lines.of(namespace, folder, query, prompt)
        most_bytes = bytes_for(text, query, prompt, self._config) - len(line.encode())
        alone = told_first(line, "")
        if most_bytes <= 0:
            blank = self._blank_report(asker, len(text), stopwatch.elapsed_ms())
            why = None if line else silence_of(query)
            self._keep_report(attrs.evolve(blank, asked=(), context_bytes=len(alone.encode()), silent_because=why))
            return Retrieval(alone, latency_ms=blank.latency_ms)
        request = self._request(text, folder, most_bytes)
        with trio.move_on_at(min(deadline, trio.current_time() + self._config.budget_seconds)):
            outcome = await catch_errors(
                "context", lambda: self._contexts.build(namespace, request, prompt.told_before)
            )
        blank = self._blank_report(asker, len(text), stopwatch.elapsed_ms())
        if not isinstance(outcome, Context):
            problem = "late" if outcome is None else reason(outcome)
            why = None if line else CUT_OFF if outcome is None else FAILED
            report = attrs.evolve(blank, degraded=(f"context: {problem}",), silent_because=why)
            self._keep_report(report)
            return Retrieval(alone, latency_ms=report.latency_ms, degraded=report.degraded)
        told = tuple(_told_id(item.item_id) for item in outcome.items)
        # Since the builder asked what the session was told, no other prompt of it can have come between.
        prompt.told(told)
        context = told_first(line, outcome.text)
        report = _report(outcome, blank, context)
        self._keep_report(report)
        records = tuple(RecordId(each) for each in told if is_record_id(each))
        return Retrieval(context, records, report.latency_ms, outcome.degraded, report.records, told)

    def _request(self, text: str, folder: str | None, most_bytes: int) -> ContextRequest:
        in_passages = self._config.format == "excerpts"
        return ContextRequest(message=text, folder=folder, most_bytes=most_bytes, tells_passages=in_passages)

    def take_back(self, namespace: Namespace, session_id: str, retrieval: Retrieval) -> None:
        """An answer was not sent after all: its session may still be told what it says."""
        self._sessions.take_back(namespace, session_id, retrieval.told_ids)

    def _blank_report(
        self, asker: tuple[Namespace, str | None, EventId | None, str | None], characters: int, latency_ms: float
    ) -> Report:
        namespace, session_id, event_id, agent = asker
        return Report(
            retrieval_id=self._clock.new_ulid(),
            at=self._clock.utc_now(),
            namespace=namespace,
            session_id=session_id,
            event_id=event_id,
            agent=agent,
            query_characters=characters,
            asked=tuple(Ranking),
            records=(),
            left_out={},
            context_bytes=0,
            latency_ms=latency_ms,
            stages_ms={},
            degraded=(),
            silent_because=None,
        )


def _report(context: Context, blank: Report, told: str) -> Report:
    found = tuple(
        FoundRecord(
            record_id=RecordId(item.item_id),
            score=item.score,
            strategy="graph",
            found_by=_found_by(item.parts),
            shown=True,
        )
        for item in context.items
        if is_record_id(item.item_id)
    )
    return attrs.evolve(
        blank,
        records=found,
        left_out={"told_before": context.told_before_count} if context.told_before_count else {},
        context_bytes=len(told.encode()),
        degraded=context.degraded,
        silent_because=None if told else _silent_because(context),
    )


def _told_id(item_id: str) -> ToldId:
    return RecordId(item_id) if is_record_id(item_id) else GraphItemId(item_id)


def _silent_because(context: Context) -> str | None:
    if context.items:
        return None
    return NOTHING_NEW if context.told_before_count else NOTHING_RELEVANT


def _found_by(parts: Mapping[str, float]) -> tuple[Ranking, ...]:
    names = {"keyword": Ranking.WORDS, "semantic": Ranking.MEANING}
    return tuple(ranking for name, ranking in names.items() if name in parts)
