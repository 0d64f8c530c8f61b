"""Orders the records of one project for a search: as prompts do, by one ranking, or by signals.

Records that a filter excludes do not count, and a query is embedded only once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EVERYTHING, RecordFilter
from kiro_learn.model.retrieval import Hit, Ranking, SearchMode, best_first
from kiro_learn.model.settings import ScoringSettings
from kiro_learn.model.vectors import ModelIdentity, Vector
from kiro_learn.pipelines.recall.finder import Finder, Findings
from kiro_learn.pipelines.recall.retrievers import (
    EMBEDDING_OFF,
    LATE,
    Retriever,
    RetrieverAnswer,
    RetrieverKind,
    RetrieverQuery,
    VectorRetriever,
    WordRetriever,
)
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import QueryEmbedder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import ObservationReads
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.ranking.calibrated import (
    KNOWLEDGE_FLOOR,
    Evidence,
    Found,
    Signals,
    depth_for,
    parts_of,
    relevance,
    score_of,
    signals_among,
)

DEEPER = 10
"""The factor by which the depth grows if too few hits pass the filter."""


@attrs.define(eq=False)
class QueryVectors:
    """Embeds the query of one search once for each model, for all projects and depths."""

    _embedder: QueryEmbedder
    _patience_seconds: float
    _known: dict[tuple[str, ModelIdentity | None], Vector] = attrs.field(factory=dict, init=False)

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """See ``QueryEmbedder``."""
        return self._embedder.serving_model(namespace)

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """See ``QueryEmbedder``; a vector that is late raises EmbeddingError too."""
        if (text, model) not in self._known:
            with trio.move_on_after(self._patience_seconds):
                self._known[text, model] = await self._embedder.embed_query(text, model)
        if (text, model) not in self._known:
            raise EmbeddingError(LATE)
        return self._known[text, model]


@attrs.define(eq=False)
class Sifted:
    """A retriever that goes deeper until ``least`` of its hits pass a filter, or it has no more.

    Its first hits are all kept, whether they pass or not, since fusion weighs a record against others. Of the deeper
    hits only those that pass are kept, so that fusion has little to weigh.
    """

    _retriever: Retriever
    _storage: ObservationReads
    _wanted: RecordFilter
    _least: int
    fitting: frozenset[RecordId] = attrs.field(default=frozenset(), init=False)
    """The hits that pass the filter."""
    is_complete: bool = attrs.field(default=False, init=False)
    """True: it answered, and every record that it can find is among its hits."""

    @property
    def kind(self) -> RetrieverKind:
        """See ``Retriever``."""
        return self._retriever.kind

    def can_answer(self, query: Query) -> bool:
        """See ``Retriever``."""
        return self._retriever.can_answer(query)

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever``."""
        answer = await self._retriever.ask(query)
        depth, evidence = query.depth, answer.evidence
        fitting = await self._fitting(evidence.hits)
        while len(evidence.hits) == depth and len(fitting) < self._least:
            depth *= DEEPER
            answer = await self._retriever.ask(attrs.evolve(query, depth=depth))
            evidence = answer.evidence
            fitting = await self._fitting(evidence.hits)
        self.fitting, self.is_complete = fitting, len(evidence.hits) < depth
        further = [hit for hit in evidence.hits[query.depth :] if hit.record_id in fitting]
        hits = (*evidence.hits[: query.depth], *further[: query.depth])
        return attrs.evolve(answer, evidence=_with_hits(evidence, hits))

    async def _fitting(self, hits: Sequence[Hit]) -> frozenset[RecordId]:
        record_ids = frozenset(hit.record_id for hit in hits)
        if self._wanted == EVERYTHING:
            return record_ids
        return await self._storage.get_fitting_ids(record_ids, self._wanted)


def _with_hits(evidence: Any, hits: tuple[Hit, ...]) -> Evidence:
    changed: Evidence = attrs.evolve(evidence, hits=hits)
    return changed


OTHER_MODES = "Search by words: with mode=hybrid or mode=lexical, or with /api/search."

ALL = 1_000_000
"""More hits than any search weighs."""

Parts: TypeAlias = Mapping[str, float]
"""The parts of a score, by name; the score is their sum."""

BY_MODE: Mapping[SearchMode, tuple[Ranking, ...]] = {
    SearchMode.HYBRID: tuple(Ranking),
    SearchMode.SEMANTIC: (Ranking.MEANING,),
    SearchMode.LEXICAL: (Ranking.WORDS,),
    SearchMode.SYNTAX: (Ranking.WORDS,),
}
"""The rankings that decide which records each mode finds."""


@attrs.frozen(kw_only=True)
class Wanted:
    """Which memories a search is for, and how they are ordered."""

    limit: int
    offset: int = 0
    """How many of the best records to skip."""
    mode: SearchMode = SearchMode.HYBRID
    filter: RecordFilter = EVERYTHING
    by_signals: bool = False
    """True: a hybrid search is ordered by the weighted score of docs/search.md, not by the fusion of the settings. A
    search by meaning also asks for the words then, so that all signals are known."""
    least_cosine: float | None = None
    """The least cosine of a search by meaning; None: that of the settings if a project is named, else any."""
    is_lenient: bool = False
    """True: a query that is no valid syntax is looked up as plain words. So is one with only words, if no record has
    all of them: a question is no expression."""

    @property
    def depth(self) -> int:
        """How many of the best records are needed."""
        return self.offset + self.limit


@attrs.frozen(kw_only=True)
class Asked:
    """One search, as it is put to each project."""

    query: str
    wanted: Wanted
    home: Namespace
    """The project that was asked about; records of other projects get half of the signal for the project."""
    vectors: VectorRetriever
    """Embeds the query once for all projects."""
    until: float
    """The time on trio's clock after which an answer is late."""


@attrs.frozen(kw_only=True)
class Place:
    """A record's place among those of its project, before the record is read."""

    hit: Hit
    found_by: tuple[Ranking, ...]
    parts: Parts
    """The parts of the score; empty if the score is made of signals."""
    signals: Signals


@attrs.frozen(kw_only=True)
class Places:
    """The best records of one project."""

    best: Sequence[Place]
    """The places, best first."""
    nearest: float | None = None
    """The greatest relevance of a record found by words or meaning; None if none was found or asked for."""
    degraded: tuple[str, ...] = ()
    """Why there may be more records, or a better order."""


@attrs.frozen(eq=False)
class Placer:
    """Asks the same retrievers as prompts. Each method may raise StorageError."""

    words: WordRetriever
    vectors: VectorRetriever
    _storage: StorageBackend
    _clock: ClockAndIds
    _finder: Finder
    """The finder that prompts use."""
    _scoring: ScoringSettings

    async def places(self, namespace: Namespace, asked: Asked) -> Places:
        """The best records of one project.

        Raises:
          EmbeddingError: the search is by meaning, and the query could not be embedded.
        """
        wanted, vectors = asked.wanted, asked.vectors
        sifted = [Sifted(each, self._storage, wanted.filter, wanted.depth) for each in (self.words, vectors)]
        findings = await self._find(namespace, asked, sifted)
        without_meaning = [reason for reason in findings.degraded if reason.startswith(f"{vectors.kind.stage}: ")]
        if wanted.mode is SearchMode.SEMANTIC and without_meaning:
            raise EmbeddingError("; ".join(without_meaning), hint=OTHER_MODES)
        fitting = sifted[0].fitting | sifted[1].fitting
        hits = [hit for hit in _in_order(findings, wanted) if hit.record_id in fitting]
        is_hybrid = wanted.mode is SearchMode.HYBRID
        if not (is_hybrid and wanted.by_signals):
            hits = hits[: wanted.depth]
        signals = self._signals(findings.evidence, hits, asked.home == namespace, sifted[0].is_complete)
        if is_hybrid and wanted.by_signals:
            hits = (await self._by_signals(hits, signals))[: wanted.depth]
        parts = self._parts(findings, hits, wanted)
        relevances = [relevance(each, self._scoring.weights) for each in signals.values()] if is_hybrid else []
        return Places(
            best=[
                Place(
                    hit=hit,
                    found_by=tuple(way for way in ways if way in BY_MODE[wanted.mode]),
                    parts=parts.get(hit.record_id, {}),
                    signals=signals[hit.record_id],
                )
                for hit, ways in zip(hits, findings.found_by(hit.record_id for hit in hits), strict=True)
            ],
            nearest=max(relevances, default=None),
            degraded=(*findings.degraded, *((EMBEDDING_OFF,) if is_hybrid and not vectors.is_enabled else ())),
        )

    async def matches(self, namespace: Namespace, asked: Asked, hits: Sequence[Hit], *, are_of_words: bool) -> Places:
        """``hits`` that an expression found, in their order.

        ``are_of_words``: the expression has only words, so that a signal can be made of them.
        """
        sifted = Sifted(self.words, self._storage, EVERYTHING, asked.wanted.depth)
        found: Found = {each.kind.name: each.kind.nothing for each in (self.words, self.vectors)}
        if are_of_words:
            depth, stage = depth_for(asked.wanted.depth), Stopwatch().stage
            query = RetrieverQuery(namespace, Query.of_text(asked.query), depth, with_neighbors=False, stage=stage)
            found = {**found, Ranking.WORDS: (await sifted.ask(query)).evidence}
        signals = self._signals(found, hits, asked.home == namespace, sifted.is_complete)
        ways = BY_MODE[asked.wanted.mode]
        return Places(
            best=[
                Place(hit=hit, found_by=ways, parts={ways[0].value: hit.score}, signals=signals[hit.record_id])
                for hit in hits
            ]
        )

    def _signals(
        self, found: Found, hits: Collection[Hit], is_home: bool, has_all_words: bool
    ) -> dict[RecordId, Signals]:
        now = self._clock.utc_now()
        return signals_among(found, hits, now, self._scoring, is_same_project=is_home, has_all_words=has_all_words)

    async def _find(self, namespace: Namespace, asked: Asked, sifted: Sequence[Sifted]) -> Findings:
        """Hybrid searches are fused as for prompts; all others get the rankings as they are."""
        wanted, query = asked.wanted, Query.of_text(asked.query)
        finder, patience = self._finder.over(sifted), asked.until - trio.current_time()
        if wanted.mode is SearchMode.HYBRID and not wanted.by_signals:
            beyond = ALL if wanted.filter != EVERYTHING else 0
            return await finder.find(
                namespace,
                query,
                limit=wanted.depth,
                beyond=beyond,
                patience_seconds=patience,
                stopwatch=Stopwatch(),
            )
        is_by_words = wanted.mode in {SearchMode.LEXICAL, SearchMode.SYNTAX}
        mode = SearchMode.LEXICAL if is_by_words else SearchMode.HYBRID if wanted.by_signals else wanted.mode
        return await finder.rank(namespace, query, depth=depth_for(wanted.depth), mode=mode, patience_seconds=patience)

    async def _by_signals(self, hits: Sequence[Hit], signals: Mapping[RecordId, Signals]) -> list[Hit]:
        """``hits`` by the weighted score, best first; the score of knowledge that is relevant is boosted."""
        weights = self._scoring.weights
        relevant = [record_id for record_id, each in signals.items() if relevance(each, weights) >= KNOWLEDGE_FLOOR]
        knowledge = await self._storage.get_knowledge_ids(relevant)
        return best_first(
            attrs.evolve(
                hit,
                score=score_of(signals[hit.record_id], self._scoring, is_knowledge=hit.record_id in knowledge),
            )
            for hit in hits
        )

    def _parts(self, findings: Findings, best: Sequence[Hit], wanted: Wanted) -> Mapping[RecordId, Parts]:
        """The parts of each score."""
        if wanted.mode is not SearchMode.HYBRID:
            (name,) = BY_MODE[wanted.mode]
            return {hit.record_id: {name.value: hit.score} for hit in best}
        if wanted.by_signals:
            return {}
        if findings.fusion is not None:
            return findings.fusion.parts(hit.record_id for hit in best)
        rrf_k = self._finder.rrf_k
        if rrf_k is not None and not any(reason.startswith("fusion: ") for reason in findings.degraded):
            return parts_of(findings.evidence, k=rrf_k)
        return {hit.record_id: {Ranking.WORDS.value: hit.score} for hit in best}


def _in_order(findings: Findings, wanted: Wanted) -> Sequence[Hit]:
    """The hits with the scores of the mode; in any order if signals decide."""
    if wanted.mode is SearchMode.SEMANTIC:
        least = -1.0 if wanted.least_cosine is None else wanted.least_cosine
        return [hit for hit in findings.evidence[Ranking.MEANING].hits if hit.score >= least]
    if wanted.mode is not SearchMode.HYBRID:
        return findings.evidence[Ranking.WORDS].hits
    if not wanted.by_signals:
        return findings.hits
    both = {hit.record_id: hit for found in findings.evidence.values() for hit in found.hits}
    return list(both.values())
