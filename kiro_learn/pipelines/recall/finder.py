"""Finds memories: by words and by meaning at once, fused; by words alone when meaning is not to be had in time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import trio

from kiro_learn.config import EmbeddingConfig, RecallConfig
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.ranking_features import RankingFeatures
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.pipelines.recall.feature_reading import BackdropReading
from kiro_learn.ports.embedding import QueryEmbedder
from kiro_learn.ports.nearest_records import NearestRecords
from kiro_learn.ports.storage.answers import LexicalRanking, SearchParams
from kiro_learn.ports.storage.words import WordReads
from kiro_learn.ports.word_index import TermLookup, WordIndexRepair
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.terms import has_words
from kiro_learn.retrieval.ranking.calibrated import depth_for, fuse_calibrated
from kiro_learn.retrieval.ranking.rrf import fuse
from kiro_learn.retrieval.ranking.vector_index import VectorRanking
from kiro_learn.runtime.optional_result import LATE, OptionalResult
from kiro_learn.runtime.stopwatch import Stopwatch


@attrs.frozen
class Findings:
    """What was found in time."""

    hits: tuple[Hit, ...]
    """Best first."""
    words: LexicalRanking
    vectors: VectorRanking
    degraded: tuple[str, ...]
    """Why a ranking is missing, a reason each; empty when nothing is."""
    asked: tuple[Ranking, ...]
    """The rankings that should have answered."""

    def found_by(self, record_ids: Iterable[RecordId]) -> Iterator[tuple[Ranking, ...]]:
        """The rankings that found each of these records."""
        by_words = {hit.record_id for hit in self.words.hits}
        by_meaning = {hit.record_id for hit in self.vectors.hits}
        ways = ((Ranking.WORDS, by_words), (Ranking.MEANING, by_meaning))
        return (tuple(way for way, found in ways if record_id in found) for record_id in record_ids)

    def without(self, record_ids: Container[RecordId]) -> Findings:
        """As if these had not been found."""
        return attrs.evolve(
            self,
            hits=_without(self.hits, record_ids),
            words=attrs.evolve(self.words, hits=_without(self.words.hits, record_ids)),
            vectors=attrs.evolve(self.vectors, hits=_without(self.vectors.hits, record_ids)),
        )


def _without(hits: Sequence[Hit], record_ids: Container[RecordId]) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.record_id not in record_ids)


INDEX_DAMAGED = "words: the index is damaged and being rebuilt; found without it"

_NO_WORDS = LexicalRanking(hits=(), ideal_score=0.0)
_NO_VECTORS = VectorRanking()


class Finder:
    """The one query layer under prompts, the API and the tools."""

    def __init__(
        self,
        storage: WordReads,
        indexes: NearestRecords,
        embedder: QueryEmbedder,
        *,
        term_prefetcher: TermLookup,
        rebuilder: WordIndexRepair,
        recall: RecallConfig,
        embedding: EmbeddingConfig,
    ) -> None:
        self._storage = storage
        self._indexes = indexes
        self._embedder = embedder
        self._term_prefetcher = term_prefetcher
        self._rebuilder = rebuilder
        self._recall = recall
        self._embedding = embedding

    async def find(
        self,
        namespace: Namespace,
        query: Query,
        *,
        limit: int,
        mode: SearchMode,
        patience_seconds: float,
        stopwatch: Stopwatch,
        beyond: int = 0,
    ) -> Findings:
        """Ask both rankings at once; one that is late or fails contributes nothing and is named in ``degraded``.

        Without the vectors, or if they cannot be weighed, the hits are those of the words, in the same order. After
        the ``limit`` best come those ``beyond``, as far as what is weighed for these has them.
        """
        calibrates = mode is SearchMode.HYBRID and self._recall.fusion == "calibrated"
        depth = depth_for(limit) if calibrates else limit * self._recall.fetch_depth_multiplier
        words = OptionalResult(_NO_WORDS, is_asked=mode is not SearchMode.SEMANTIC)
        asks_vectors = mode is not SearchMode.LEXICAL and self._embedding.enabled and has_words(query.meaning)
        vectors = OptionalResult(_NO_VECTORS, is_asked=asks_vectors)
        texts = BackdropReading(lambda record_ids: self._ranking_features(record_ids, stopwatch), is_wanted=calibrates)
        unneeded = trio.CancelScope()

        async def ask_words() -> None:
            params = SearchParams(namespace, query.words, depth, self._recall.term_cap, with_neighbors=calibrates)
            await words.run("words", lambda: self._by_words(params, stopwatch))
            with unneeded:
                await texts.read(words.result.hits)

        async def ask_vectors() -> None:
            await vectors.run("vectors", lambda: self._by_meaning(namespace, query.meaning, depth, stopwatch))
            await texts.read(vectors.result.hits)
            if not vectors.result.hits:
                unneeded.cancel()

        with trio.move_on_after(patience_seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask_words)
                nursery.start_soon(ask_vectors)
        ranking_features = texts.gathered(is_needed=bool(vectors.result.hits) and words.problem != LATE)
        if not ranking_features.is_asked:
            stopwatch.leave_out("features")
        fusion = OptionalResult(tuple(words.result.hits[: limit + beyond]), is_asked=True)

        async def weigh() -> tuple[Hit, ...]:
            with stopwatch.stage("fusion"):
                if calibrates:
                    return fuse_calibrated(words.result, vectors.result, ranking_features.result, limit=limit + beyond)
                return fuse(words.result, vectors.result, k=self._recall.rrf_k, limit=limit + beyond)

        await fusion.run("fusion", weigh)
        stages = (("words", words), ("vectors", vectors), ("features", ranking_features), ("fusion", fusion))
        return Findings(
            hits=fusion.result,
            words=words.result,
            vectors=_NO_VECTORS if fusion.problem else vectors.result,
            degraded=_reasons(words.result, stages),
            asked=tuple(way for way, stage in ((Ranking.WORDS, words), (Ranking.MEANING, vectors)) if stage.is_asked),
        )

    async def _by_words(self, params: SearchParams, stopwatch: Stopwatch) -> LexicalRanking:
        try:
            with stopwatch.stage("words"):
                ranking = await self._storage.rank_by_words(params)
        except trio.Cancelled:
            self._term_prefetcher.look_up(params)
            raise
        if ranking.is_index_damaged:
            self._rebuilder.note_damage(params.namespace)
        return ranking

    async def _by_meaning(self, namespace: Namespace, text: str, depth: int, stopwatch: Stopwatch) -> VectorRanking:
        with stopwatch.stage("embed"):
            model = self._embedder.serving_model(namespace)
            vector = await self._embedder.embed_query(text, model)
        if not np.isfinite(vector).all():
            raise EmbeddingError("the embedding model made a vector of no direction")
        with stopwatch.stage("vectors"):
            return await self._indexes.rank(namespace, vector, depth, model=model)

    async def _ranking_features(
        self, record_ids: list[RecordId], stopwatch: Stopwatch
    ) -> dict[RecordId, RankingFeatures]:
        with stopwatch.stage("features"):
            return await self._storage.get_ranking_features(record_ids)


def _reasons(words: LexicalRanking, stages: Iterable[tuple[str, OptionalResult[Any]]]) -> tuple[str, ...]:
    damaged = (INDEX_DAMAGED,) if words.is_index_damaged else ()
    return (*damaged, *(problem for name, stage in stages for problem in stage.reasons(name)))
