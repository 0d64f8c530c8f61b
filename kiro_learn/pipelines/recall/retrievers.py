"""The retriever's contract: a query in, records out, with the evidence that fusion and confidence weigh.

The two retrievers search by words and by meaning. The ranking features of their hits are read here too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from typing import ClassVar, Generic, Protocol, TypeVar

import attrs
import numpy as np
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Hit, LexicalRanking, Ranking, RankingFeatures, SearchMode
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Vector
from kiro_learn.ports.indexes import TermLookup, WordIndexRepair
from kiro_learn.ports.models import QueryEmbedder
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.records import WordReads
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.syntax import has_words
from kiro_learn.retrieval.ranking.calibrated import Evidence
from kiro_learn.retrieval.ranking.vector_index import VectorRanking
from kiro_learn.runtime.supervisor import catch_errors, reason

EMBEDDING_OFF = "vectors: [embedding] enabled is false"
INDEX_DAMAGED = "words: the index is damaged and being rebuilt; found without it"


@attrs.frozen
class RetrieverQuery:
    """One search, as every retriever gets it."""

    namespace: Namespace
    query: Query
    depth: int
    """The most hits."""
    with_neighbors: bool
    """Also return the evidence that only a calibrated fusion weighs."""
    stage: Callable[[str], AbstractContextManager[None]]
    """Times a named part of the work."""


@attrs.frozen
class RetrieverAnswer:
    """The answer of a retriever."""

    evidence: Evidence
    problem: str | None = None
    """Why there may be more records, although some were found; None: there are no more."""


@attrs.frozen
class RetrieverKind:
    """Describes one way of finding records."""

    name: Ranking
    """The name in the retrieval log."""
    stage: str
    """The name in timings, and before the reason why the ranking is missing."""
    mode: SearchMode
    """The mode of a search that asks only this retriever."""
    nothing: Evidence
    """The evidence of a retriever that was not asked, or could not answer."""


class Retriever(Protocol):
    """A way of finding records. If the other retrievers of a list find nothing, the first one's order is kept."""

    @property
    def kind(self) -> RetrieverKind:
        """Which way of finding records this is."""
        ...

    def can_answer(self, query: Query) -> bool:
        """Whether there is something in ``query`` that it could look for."""
        ...

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """The records of the namespace that fit best, best first. The caller's cancel scope is its deadline.

        Raises:
          KiroLearnError: it could not answer; its text is the reason in ``degraded``.
        """
        ...


@attrs.frozen(eq=False)
class WordRetriever:
    """Asks the store's index of words."""

    storage: WordReads
    term_prefetcher: TermLookup
    """Looks up the words of a query that was cut off, for the next one."""
    rebuilder: WordIndexRepair
    term_cap: int

    kind: ClassVar = RetrieverKind(
        name=Ranking.WORDS, stage="words", mode=SearchMode.LEXICAL, nothing=LexicalRanking(hits=(), ideal_score=0.0)
    )

    def can_answer(self, query: Query) -> bool:  # noqa: ARG002  # the store knows what a term is
        """Always True: the store decides which words of a query it looks up."""
        return True

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever.ask``. If cancelled, ``term_prefetcher`` looks the words up afterwards, for the next prompt.

        Raises:
          StorageError: the store could not be read.
        """
        params = SearchParams(
            query.namespace, query.query.words, query.depth, self.term_cap, with_neighbors=query.with_neighbors
        )
        try:
            with query.stage(self.kind.stage):
                ranking = await self.storage.rank_by_words(params)
        except trio.Cancelled:
            self.term_prefetcher.look_up(params)
            raise
        if not ranking.is_index_damaged:
            return RetrieverAnswer(ranking)
        self.rebuilder.note_damage(params.namespace)
        return RetrieverAnswer(ranking, INDEX_DAMAGED)


class NearestRecords(Protocol):
    """Compares a vector with those of all records of a namespace."""

    async def rank(
        self,
        namespace: Namespace,
        query: Vector,
        limit: int,
        *,
        wholes_only: bool = False,
        model: ModelIdentity = BUNDLED_MODEL,
    ) -> VectorRanking:
        """The records nearest to ``query`` among all that were committed before the call.

        ``wholes_only``: compare only the first vector of each record. ``model``: the model that made ``query``.

        Raises:
          StorageError: the index was not in memory and could not be read.
          EmbeddingError: too many other indexes wait to be read; or another model serves the namespace (by now).
          ActorStopped: the daemon is going down.
        """
        ...


@attrs.frozen(eq=False)
class VectorRetriever:
    """Embeds the query and asks for the nearest records."""

    embedder: QueryEmbedder
    indexes: NearestRecords
    is_enabled: bool

    kind: ClassVar = RetrieverKind(
        name=Ranking.MEANING, stage="vectors", mode=SearchMode.SEMANTIC, nothing=VectorRanking()
    )

    def can_answer(self, query: Query) -> bool:
        """Whether embedding is enabled and the query has a word in it."""
        return self.is_enabled and has_words(query.meaning)

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever.ask``.

        Raises:
          EmbeddingError: there is no model, it failed, or it made a vector that is not finite.
          StorageError: the index was not in memory and could not be read.
        """
        with query.stage("embed"):
            model = self.embedder.serving_model(query.namespace)
            vector = await self.embedder.embed_query(query.query.meaning, model)
        if not np.isfinite(vector).all():
            raise EmbeddingError("the embedding model made a vector of no direction")
        with query.stage(self.kind.stage):
            return RetrieverAnswer(await self.indexes.rank(query.namespace, vector, query.depth, model=model))


# Reads the ranking features of the hits of two rankings: those of the first while the second is still awaited.


@attrs.frozen(eq=False)
class FeatureReading:
    """Reads the ranking features of one search's hits: each record once, for the ranking that finds it first."""

    _read: Callable[[list[RecordId]], Awaitable[dict[RecordId, RankingFeatures]]]
    _is_wanted: bool
    _begun: set[RecordId] = attrs.field(factory=set, init=False)
    _parts: list[OptionalResult[dict[RecordId, RankingFeatures]]] = attrs.field(factory=list, init=False)

    async def read(self, hits: Iterable[Hit]) -> None:
        """Read the features of those ``hits`` that no other call has read or is reading."""
        record_ids = [hit.record_id for hit in hits if hit.record_id not in self._begun]
        if not self._is_wanted or not record_ids:
            return
        self._begun.update(record_ids)
        part: OptionalResult[dict[RecordId, RankingFeatures]] = OptionalResult("features", {})
        self._parts.append(part)
        await part.run(lambda: self._read(record_ids))

    def gathered(self, *, is_needed: bool) -> OptionalResult[dict[RecordId, RankingFeatures]]:
        """All features, or none: if some were missing, records would rank higher only because theirs were read."""
        problem = next((part.problem for part in self._parts if part.problem), None)
        known = {} if problem else {key: value for part in self._parts for key, value in part.result.items()}
        return OptionalResult("features", known, is_asked=self._is_wanted and is_needed, problem=problem)


# A part of an answer that may be missing.

T = TypeVar("T")

LATE = "late"


@attrs.define(eq=False)
class OptionalResult(Generic[T]):
    """The result of one step of a search; the step may fail or be late without harm to the others."""

    what: str
    """The name of the step, in the log and before the reason why the result is missing."""
    result: T
    is_asked: bool = True
    problem: str | None = LATE
    """Why there is no result; None if there is one."""

    async def run(self, work: Callable[[], Awaitable[T]]) -> None:
        """Do ``work`` if it is asked for, and keep its result or the reason why there is none."""
        if not self.is_asked:
            return
        outcome = await catch_errors(self.what, work)
        if isinstance(outcome, Exception):
            self.problem = reason(outcome)
        else:
            self.result, self.problem = outcome, None

    def reasons(self) -> tuple[str, ...]:
        """The reason why the result is missing; empty if it is there or was not asked for."""
        return (f"{self.what}: {self.problem}",) if self.is_asked and self.problem else ()
