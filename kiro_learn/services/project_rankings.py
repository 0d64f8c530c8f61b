"""Ranks one project's records by words and by vectors, for searches that score both."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar

import attrs
import numpy as np
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.embedding_model import ModelIdentity
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.model.vectors import Vector
from kiro_learn.pipelines.recall.optional_result import OptionalResult
from kiro_learn.pipelines.recall.retrievers import EMBEDDING_OFF, INDEX_DAMAGED
from kiro_learn.ports.storage.answers import LexicalRanking, SearchParams
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.query.terms import has_words
from kiro_learn.retrieval.ranking.signals import fts5_signal
from kiro_learn.retrieval.ranking.vector_index import VectorRanking
from kiro_learn.services.project_names import NamedProject

TERM_CAP = 32

EMBEDDED_CHARACTERS = 2_000
"""Of a query: more than the embedding model reads."""

LEAST_DEPTH = 100
DEPTH_MULTIPLIER = 5
"""Hits of either ranking that are scored: a multiple of the limit, and at least so many: knowledge is boosted."""

DEEPER = 10
"""Factor by which the depth grows if too few hits pass the filter."""

_NO_WORDS = LexicalRanking(hits=(), ideal_score=0.0)
_NO_VECTORS = VectorRanking()


@attrs.define(eq=False)
class EmbeddedQuery:
    """A query, and its vectors as far as they are known: one for each model that serves a project."""

    text: str
    vectors: dict[ModelIdentity, Vector] = attrs.Factory(dict)


class HasHits(Protocol):
    """A ranking by words or by vectors."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Best first."""
        ...


R = TypeVar("R", bound=HasHits)
R_co = TypeVar("R_co", bound=HasHits, covariant=True)


class Rank(Protocol[R_co]):
    """Makes a ranking of at most so many hits."""

    async def __call__(self, *, depth: int) -> R_co: ...


@attrs.frozen
class Sifted(Generic[R]):
    """A ranking, and which of its hits the search is for."""

    ranking: R
    wanted: frozenset[RecordId] = frozenset()
    is_complete: bool = False
    """Every record that the ranking has anything to say of is among its hits."""


@attrs.frozen(kw_only=True)
class ProjectFindings:
    """What one project's rankings found."""

    project: NamedProject
    words: LexicalRanking = _NO_WORDS
    vectors: VectorRanking = _NO_VECTORS
    wanted: frozenset[RecordId] = frozenset()
    """The hits that pass the filter of the search."""
    has_all_words: bool = False
    """Every record with a word of the query is among the hits of ``words``."""
    without_words: tuple[str, ...] = ()
    """Why the words are missing or were found without their index, a reason each."""
    without_vectors: tuple[str, ...] = ()
    """Why the vectors are missing, where they were wanted."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """Why there may be more, or a better order."""
        return (*self.without_words, *self.without_vectors)

    def cosines(self, record_ids: Collection[RecordId]) -> dict[RecordId, float]:
        """Cosine of each with the query; only those with a vector, none without one of the query."""
        if self.vectors.standings is None:
            return {}
        found = {hit.record_id: hit.score for hit in self.vectors.hits}
        return found | self.vectors.standings.cosines(set(record_ids) - found.keys())

    def words_signals(self, record_ids: Collection[RecordId]) -> dict[RecordId, float]:
        """The signal ``fts5`` of each; only those of which it is known."""
        best = max((hit.score for hit in self.words.hits), default=0.0)
        found = {
            hit.record_id: fts5_signal(hit.score, best=best, ideal=self.words.ideal_score) for hit in self.words.hits
        }
        return (dict.fromkeys(record_ids, 0.0) if self.has_all_words else {}) | found


class ProjectRankings:
    """Asks the store, the embedder and the vector indexes. Each method may raise StorageError."""

    def __init__(
        self,
        storage: StorageBackend,
        indexes: VectorIndexes,
        embedder: Embedder,
        *,
        rebuilder: WordIndexRebuilder,
        embeds: bool,
        query_seconds: float,
    ) -> None:
        self._storage = storage
        self._indexes = indexes
        self._embedder = embedder
        self._rebuilder = rebuilder
        self.embeds = embeds
        self._query_seconds = query_seconds

    async def find(
        self, project: NamedProject, query: EmbeddedQuery, *, limit: int, wanted: RecordFilter = EVERYTHING
    ) -> ProjectFindings:
        """Both rankings, each with ``limit`` hits that are ``wanted`` if there are so many; one that fails contributes
        nothing and is named in ``degraded``.
        """
        words = OptionalResult(Sifted(_NO_WORDS), is_asked=True)
        vectors = OptionalResult(Sifted(_NO_VECTORS), is_asked=self.embeds and has_words(query.text))
        by_words = partial(self.by_words, project, query.text)
        by_meaning = partial(self.by_meaning, project, query)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(words.run, "words", lambda: self.sifted(by_words, limit=limit, wanted=wanted))
            nursery.start_soon(vectors.run, "vectors", lambda: self.sifted(by_meaning, limit=limit, wanted=wanted))
        damaged = (INDEX_DAMAGED,) if words.result.ranking.is_index_damaged else ()
        return ProjectFindings(
            project=project,
            words=words.result.ranking,
            vectors=vectors.result.ranking,
            wanted=words.result.wanted | vectors.result.wanted,
            has_all_words=words.result.is_complete,
            without_words=(*damaged, *words.reasons("words")),
            without_vectors=vectors.reasons("vectors") if self.embeds else (EMBEDDING_OFF,),
        )

    async def find_words(
        self, project: NamedProject, text: str, *, limit: int, wanted: RecordFilter
    ) -> ProjectFindings:
        """The ranking by words alone, with ``limit`` hits that are ``wanted`` if there are so many."""
        words = await self.sifted(partial(self.by_words, project, text), limit=limit, wanted=wanted)
        return ProjectFindings(
            project=project, words=words.ranking, wanted=words.wanted, has_all_words=words.is_complete
        )

    async def sifted(self, rank: Rank[R], *, limit: int, wanted: RecordFilter) -> Sifted[R]:
        """The ranking of ``rank``, deep enough that ``limit`` of its hits are ``wanted``, or complete."""
        depth = depth_for(limit)
        ranking = await rank(depth=depth)
        fitting = await self._fitting(ranking.hits, wanted)
        while len(ranking.hits) == depth and len(fitting) < limit:
            depth *= DEEPER
            ranking = await rank(depth=depth)
            fitting = await self._fitting(ranking.hits, wanted)
        return Sifted(ranking, fitting, is_complete=len(ranking.hits) < depth)

    async def _fitting(self, hits: Sequence[Hit], wanted: RecordFilter) -> frozenset[RecordId]:
        record_ids = frozenset(hit.record_id for hit in hits)
        return record_ids if wanted == EVERYTHING else await self._storage.get_fitting_ids(record_ids, wanted)

    async def by_words(self, project: NamedProject, text: str, *, depth: int) -> LexicalRanking:
        """The ``depth`` best records by bm25 that hold any of the text's ``TERM_CAP`` rarest words.

        A damaged index is reported, so that it is made anew; the ranking says so.
        """
        ranking = await self._storage.rank_by_words(SearchParams(project.namespace, text, depth, TERM_CAP))
        if ranking.is_index_damaged:
            self._rebuilder.note_damage(project.namespace)
        return ranking

    async def by_meaning(self, project: NamedProject, query: EmbeddedQuery, *, depth: int) -> VectorRanking:
        """The ``depth`` nearest of all that have a vector.

        Raises:
          EmbeddingError: the query could not be embedded.
        """
        model = self._embedder.serving_model(project.namespace)
        if model not in query.vectors:
            with trio.fail_after(self._query_seconds):
                query.vectors[model] = await self._embedder.embed_query(query.text[:EMBEDDED_CHARACTERS], model)
        vector = query.vectors[model]
        if not np.isfinite(vector).all():
            raise EmbeddingError("the embedding model made a vector of no direction")
        return await self._indexes.rank(project.namespace, vector, depth, model=model)


def depth_for(limit: int) -> int:
    """How many hits of a ranking are looked at for ``limit`` results, where more than its order decides."""
    return max(LEAST_DEPTH, DEPTH_MULTIPLIER * limit)
