"""Finds memories: asks every retriever at once and fuses the answers, without those that are not there in time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Hit, Ranking, RankingFeatures, SearchMode
from kiro_learn.pipelines.recall.retrievers import (
    LATE,
    FeatureReading,
    OptionalResult,
    Retriever,
    RetrieverAnswer,
    RetrieverQuery,
)
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.storage.records import WordReads
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.ranking.calibrated import Evidence, Fusion, depth_for, fuse, fuse_calibrated, words_of


@attrs.frozen
class Findings:
    """The hits and the evidence that were found in time."""

    hits: tuple[Hit, ...]
    """Best first."""
    evidence: Mapping[Ranking, Evidence]
    """The evidence of every ranking, also of one that was not asked."""
    degraded: tuple[str, ...]
    """One reason for each ranking that is missing."""
    asked: tuple[Ranking, ...]
    """The rankings that should have answered."""
    fusion: Fusion | None = None
    """The fusion of the rankings; None where ``hits`` have another order than its own."""

    def found_by(self, record_ids: Iterable[RecordId]) -> Iterator[tuple[Ranking, ...]]:
        """The rankings that found each of these records."""
        ids = {name: {hit.record_id for hit in found.hits} for name, found in self.evidence.items()}
        return (tuple(name for name, found in ids.items() if record_id in found) for record_id in record_ids)

    def without(self, record_ids: Container[RecordId]) -> Findings:
        """The findings as if ``record_ids`` had not been found."""
        evidence = {name: _evidence_without(found, record_ids) for name, found in self.evidence.items()}
        return attrs.evolve(self, hits=_without(self.hits, record_ids), evidence=evidence)


_Fused: TypeAlias = tuple[tuple[Hit, ...], Fusion | None]


def _evidence_without(found: Any, record_ids: Container[RecordId]) -> Evidence:
    evidence: Evidence = attrs.evolve(found, hits=_without(found.hits, record_ids))
    return evidence


def _without(hits: Sequence[Hit], record_ids: Container[RecordId]) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.record_id not in record_ids)


class Finder:
    """The search behind prompts, the API and the tools."""

    def __init__(self, retrievers: Sequence[Retriever], storage: WordReads, config: RecallConfig) -> None:
        self._retrievers = retrievers
        self._storage = storage
        self._config = config

    def over(self, retrievers: Sequence[Retriever]) -> Finder:
        """A finder with the same store and settings, but other retrievers."""
        return Finder(retrievers, self._storage, self._config)

    @property
    def rrf_k(self) -> int | None:
        """The constant of its reciprocal rank fusion; None if the settings name another fusion."""
        return self._config.rrf_k if self._config.fusion == "rrf" else None

    async def find(
        self,
        namespace: Namespace,
        query: Query,
        *,
        limit: int,
        patience_seconds: float,
        stopwatch: Stopwatch,
        beyond: int = 0,
        with_successors: bool = False,
    ) -> Findings:
        """Ask all rankings at once; one that is late or fails contributes nothing and is named in ``degraded``.

        If only the first retriever finds something, or the rankings cannot be weighed, the hits are those of the first
        retriever in its order. ``with_successors``: also find what overturns one of the best records.

        Args:
          limit: how many of the best records are wanted; it decides how deep each ranking is asked.
          beyond: how many further records may follow, of those that were found anyway; no ranking goes deeper for them.
        """
        calibrates = self._config.fusion == "calibrated"
        depth = depth_for(limit) if calibrates else limit * self._config.fetch_depth_multiplier
        asked = RetrieverQuery(namespace, query, depth, calibrates, stopwatch.stage)
        rankings = [_Asking(each, asked, SearchMode.HYBRID) for each in self._retrievers]
        ranking_features = await self._ask(rankings, stopwatch, patience_seconds, with_features=calibrates)
        unweighed: _Fused = tuple(rankings[0].evidence.hits[: limit + beyond]), None
        fusion = OptionalResult("fusion", unweighed)

        async def weigh() -> _Fused:
            evidence = {each.kind.name: each.evidence for each in rankings}
            with stopwatch.stage("fusion"):
                if calibrates:
                    fused = fuse_calibrated(evidence, ranking_features.result)
                    if with_successors:
                        fused = fused.with_successors(words_of(evidence).terms)
                    return fused.best(limit + beyond), fused
                return fuse(evidence, k=self._config.rrf_k, limit=limit + beyond), None

        await fusion.run(weigh)
        return _findings(rankings, fusion, ranking_features)

    async def rank(
        self, namespace: Namespace, query: Query, *, depth: int, mode: SearchMode, patience_seconds: float
    ) -> Findings:
        """``depth`` hits of each ranking by itself, as ``evidence``; nothing is fused, so ``hits`` is empty."""
        stopwatch, unweighed = Stopwatch(), OptionalResult[_Fused]("fusion", ((), None), is_asked=False, problem=None)
        asked = RetrieverQuery(namespace, query, depth, with_neighbors=False, stage=stopwatch.stage)
        rankings = [_Asking(each, asked, mode) for each in self._retrievers]
        features = await self._ask(rankings, stopwatch, patience_seconds, with_features=False)
        return _findings(rankings, unweighed, features)

    async def _ask(
        self, rankings: Sequence[_Asking], stopwatch: Stopwatch, patience_seconds: float, *, with_features: bool
    ) -> OptionalResult[dict[RecordId, RankingFeatures]]:
        """Ask all rankings; return the ranking features of their hits, if more than one of them found something."""
        features = FeatureReading(
            lambda record_ids: self._ranking_features(record_ids, stopwatch), is_wanted=with_features
        )
        first, others = rankings[0], rankings[1:]
        # A prompt that waited for its turn may have no patience left: move_on_after refuses negative seconds.
        with trio.move_on_at(trio.current_time() + patience_seconds):
            await _ask_all(first, others, features)
        helped = any(other.evidence.hits for other in others)
        gathered = features.gathered(is_needed=helped and first.outcome.problem != LATE)
        if not gathered.is_asked:
            stopwatch.leave_out("features")
        return gathered

    async def _ranking_features(
        self, record_ids: list[RecordId], stopwatch: Stopwatch
    ) -> dict[RecordId, RankingFeatures]:
        with stopwatch.stage("features"):
            return await self._storage.get_ranking_features(record_ids)


class _Asking:
    """A retriever, asked only if the mode and the query allow it, and its outcome."""

    def __init__(self, retriever: Retriever, query: RetrieverQuery, mode: SearchMode) -> None:
        self._retriever = retriever
        self._query = query
        self.kind = retriever.kind
        is_asked = mode in {SearchMode.HYBRID, self.kind.mode} and retriever.can_answer(query.query)
        self.outcome = OptionalResult(self.kind.stage, RetrieverAnswer(self.kind.nothing), is_asked=is_asked)

    @property
    def evidence(self) -> Evidence:
        return self.outcome.result.evidence

    async def run(self) -> None:
        await self.outcome.run(lambda: self._retriever.ask(self._query))


async def _ask_all(first: _Asking, others: Sequence[_Asking], features: FeatureReading) -> None:
    """Ask all at once, and read the features of the first one's hits for as long as another one may find something."""
    unneeded, waiting = trio.CancelScope(), len(others)

    async def ask_first() -> None:
        await first.run()
        with unneeded:
            await features.read(first.evidence.hits)

    async def ask_other(other: _Asking) -> None:
        nonlocal waiting
        await other.run()
        await features.read(other.evidence.hits)
        waiting -= 1
        if not waiting and not any(each.evidence.hits for each in others):
            unneeded.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask_first)
        for other in others:
            nursery.start_soon(ask_other, other)


def _findings(rankings: Sequence[_Asking], fusion: OptionalResult[_Fused], features: OptionalResult[Any]) -> Findings:
    """The findings; where the rankings could not be weighed, only the first one's evidence is kept."""
    return Findings(
        hits=fusion.result[0],
        evidence={
            each.kind.name: each.kind.nothing if fusion.problem and each is not rankings[0] else each.evidence
            for each in rankings
        },
        degraded=_reasons(rankings, features, fusion),
        asked=tuple(each.kind.name for each in rankings if each.outcome.is_asked),
        fusion=fusion.result[1],
    )


def _reasons(rankings: Sequence[_Asking], *stages: OptionalResult[Any]) -> tuple[str, ...]:
    partial = (problem for each in rankings if (problem := each.outcome.result.problem))
    parts = (*(each.outcome for each in rankings), *stages)
    return (*partial, *(problem for part in parts for problem in part.reasons()))
