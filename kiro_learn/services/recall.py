"""Answers a prompt with the few memories that matter, inside a hard budget, or with silence. Never with an error."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import structlog
import trio

from kiro_learn.actors.supervisor import contain
from kiro_learn.config import RecallConfig
from kiro_learn.model.event import Body
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.query.query_text import query_text
from kiro_learn.retrieval.rendering.prior_observations import render
from kiro_learn.retrieval.rendering.repeats import each_once
from kiro_learn.services.course import Course
from kiro_learn.services.failures import reason
from kiro_learn.services.retrievals import Report, Retrievals
from kiro_learn.services.search import Search, SearchMode
from kiro_learn.storage.interface import StorageBackend
from kiro_learn.world import World

log = structlog.get_logger()

SEARCH_SHARE = 0.8
"""Of the budget that may go into searching; the rest is for reading the records and writing the block."""


@attrs.frozen
class Retrieval:
    """What an agent is told, and how that came about."""

    context: str = ""
    """The block, ready to be put before the prompt; empty means nothing is worth saying."""
    record_ids: tuple[RecordId, ...] = ()
    latency_ms: float = 0.0
    degraded: tuple[str, ...] = ()


class Recall:
    """Search, floor, cut, records, block."""

    def __init__(
        self, search: Search, storage: StorageBackend, config: RecallConfig, *, retrievals: Retrievals, world: World
    ) -> None:
        self._search = search
        self._storage = storage
        self._config = config
        self._retrievals = retrievals
        self._world = world

    async def answer(self, namespace: Namespace, body: Body, *, session_id: str | None = None) -> Retrieval:
        """The memories of ``namespace`` that help with the prompt ``body``, by the end of the budget at the latest.

        Nothing is raised: whatever fails or is late is named in ``degraded``.
        """
        course = Course()
        outcome: object = None
        with trio.move_on_after(self._config.budget_seconds) as budget:
            outcome = await contain("recall", lambda: self._follow(course, namespace, body))
        if budget.cancelled_caught:
            course.is_late()
        elif isinstance(outcome, Exception):
            course.has_failed(outcome)
        report = course.report(at=self._world.utc_now(), namespace=namespace, session_id=session_id)
        self._retrievals.add(report)
        _log(report)
        return Retrieval(course.rendered.text, course.rendered.record_ids, report.latency_ms, report.degraded)

    async def _follow(self, course: Course, namespace: Namespace, body: Body) -> None:
        """One prompt, from its text to the block."""
        query = query_text(body)
        course.query_characters = len(query)
        findings = await self._search.find(
            namespace,
            query,
            limit=self._config.result_limit,
            mode=SearchMode.HYBRID,
            patience_seconds=self._config.budget_seconds * SEARCH_SHARE,
            stopwatch=course.stopwatch,
        )
        course.take_findings(findings)
        if course.worthy:
            await self._read(course)
            self._render(course, query)

    async def _read(self, course: Course) -> None:
        """One memory that cannot be read does not silence the others: then each is read by itself."""
        record_ids = [hit.record_id for hit in course.worthy]
        with course.stopwatch.stage("records"):
            records = await contain("records", lambda: self._storage.get_memory_records(record_ids))
            if isinstance(records, Exception):
                course.degraded.append(f"records: {reason(records)}")
                records = [record for record_id in record_ids for record in await self._read_alone(record_id)]
        course.take_records(records)

    async def _read_alone(self, record_id: RecordId) -> Sequence[MemoryRecord]:
        found = await contain("record", lambda: self._storage.get_memory_records([record_id]))
        return () if isinstance(found, Exception) else found

    def _render(self, course: Course, query: str) -> None:
        with course.stopwatch.stage("render"):
            telling = each_once(course.records)
            rendered = render(telling, query, most_bytes=self._config.context_bytes)
        course.take_block(rendered, repeats=len(course.records) - len(telling))


def _log(report: Report) -> None:
    log.info(
        "recall.answered",
        record_count=sum(record.shown for record in report.records),
        context_bytes=report.context_bytes,
        degraded=list(report.degraded),
        duration_ms=report.latency_ms,
    )
