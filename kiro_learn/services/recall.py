"""Answers a prompt with the few memories that matter, inside a hard budget, or with silence. Never with an error."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

import attrs
import structlog
import trio

from kiro_learn.actors.supervisor import contain
from kiro_learn.config import RecallConfig
from kiro_learn.model.event import Body
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.retrieval.query.query_text import query_text
from kiro_learn.retrieval.ranking.calibrated import worth_telling
from kiro_learn.retrieval.ranking.relevance_floor import is_relevant
from kiro_learn.retrieval.rendering.prior_observations import render
from kiro_learn.services.search import Search, SearchMode
from kiro_learn.storage.interface import StorageBackend

log = structlog.get_logger()

SEARCH_SHARE = 0.8
"""Of the budget that may go into searching; the rest is for reading the records and writing the block."""

LATENCIES_KEPT = 1_000


@attrs.frozen
class Retrieval:
    """What an agent is told, and how that came about."""

    context: str = ""
    """The block, ready to be put before the prompt; empty means nothing is worth saying."""
    record_ids: tuple[RecordId, ...] = ()
    latency_ms: float = 0.0
    degraded: tuple[str, ...] = ()


@attrs.frozen
class RecallStatistics:
    """Prompts answered since the daemon started."""

    asked: int
    told: int
    silent: int
    partial: int
    """Answered without one of the rankings, or cut off."""
    latency_ms_p50: float | None
    latency_ms_p95: float | None
    told_by_strategy: dict[str, int]
    """How often a memory of each strategy was told."""


class Recall:
    """Search, floor, budget, block."""

    def __init__(self, search: Search, storage: StorageBackend, config: RecallConfig) -> None:
        self._search = search
        self._storage = storage
        self._config = config
        self._latencies: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._outcomes: Counter[str] = Counter()
        self._strategies: Counter[str] = Counter()

    async def answer(self, namespace: Namespace, body: Body) -> Retrieval:
        """The memories of ``namespace`` that help with the prompt ``body``, by the end of the budget at the latest.

        Nothing is raised: whatever fails or is late is named in ``degraded``.
        """
        began = trio.current_time()
        found: Retrieval | Exception = Retrieval(degraded=("the budget ran out",))
        with trio.move_on_after(self._config.budget_seconds):
            found = await contain("recall", lambda: self._find(namespace, query_text(body)))
        if isinstance(found, Exception):
            found = Retrieval(degraded=(f"recall: {found}",))
        latency_ms = (trio.current_time() - began) * 1000
        self._count(found, latency_ms)
        return attrs.evolve(found, latency_ms=round(latency_ms, 1))

    def statistics(self) -> RecallStatistics:
        ordered = sorted(self._latencies)
        return RecallStatistics(
            asked=self._outcomes.total() - self._outcomes["partial"],
            told=self._outcomes["told"],
            silent=self._outcomes["silent"],
            partial=self._outcomes["partial"],
            latency_ms_p50=_percentile(ordered, 0.50),
            latency_ms_p95=_percentile(ordered, 0.95),
            told_by_strategy=dict(self._strategies),
        )

    async def _find(self, namespace: Namespace, query: str) -> Retrieval:
        findings = await self._search.find(
            namespace,
            query,
            limit=self._config.result_limit,
            mode=SearchMode.HYBRID,
            patience_seconds=self._config.budget_seconds * SEARCH_SHARE,
        )
        if not is_relevant(findings.words, findings.vectors):
            return Retrieval(degraded=findings.degraded)
        hits = findings.hits if findings.vectors.standings is None else worth_telling(findings.hits)
        records = await self._storage.get_memory_records([hit.record_id for hit in hits])
        rendered = render(records, query, most_bytes=self._config.context_bytes)
        shown = set(rendered.record_ids)
        self._strategies.update(record.strategy for record in records if record.record_id in shown)
        return Retrieval(rendered.text, rendered.record_ids, degraded=findings.degraded)

    def _count(self, retrieval: Retrieval, latency_ms: float) -> None:
        self._latencies.append(latency_ms)
        self._outcomes["told" if retrieval.context else "silent"] += 1
        self._outcomes["partial"] += bool(retrieval.degraded)
        log.info(
            "recall.answered",
            record_count=len(retrieval.record_ids),
            context_bytes=len(retrieval.context.encode()),
            degraded=list(retrieval.degraded),
            duration_ms=round(latency_ms, 1),
        )


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else None
