"""The retriever's contract: a query in, records out, with the evidence that fusion and confidence weigh. And background
work that a search by words requests and does not wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import attrs

from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Vector
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.ranking.calibrated import Evidence
from kiro_learn.retrieval.ranking.vector_index import VectorRanking


@attrs.frozen
class RetrieverQuery:
    """One search, as every retriever gets it."""

    namespace: Namespace
    query: Query
    depth: int
    """Most hits."""
    with_neighbors: bool
    """Also tell what only a calibrated fusion weighs."""
    stage: Callable[[str], AbstractContextManager[None]]
    """Times a named part of the work."""


@attrs.frozen
class RetrieverAnswer:
    """What a retriever found."""

    evidence: Evidence
    problem: str | None = None
    """Why there may be more, although something was found."""


class Retriever(Protocol):
    """A way of finding records. Where no other retriever of a list finds any, the order of the first one's stands."""

    @property
    def name(self) -> Ranking:
        """In the retrieval log."""
        ...

    @property
    def stage(self) -> str:
        """In timings, and before the reason why it is missing."""
        ...

    @property
    def mode(self) -> SearchMode:
        """The mode of a search that asks nothing but this retriever."""
        ...

    @property
    def nothing(self) -> Evidence:
        """What it found when it was not asked, or could not answer."""
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


class TermLookup(Protocol):
    """Looks up the terms of a query that was cut off at its deadline, for the next one."""

    def look_up(self, params: SearchParams) -> None:
        """Soon; or, if others wait already, when a prompt has been late with them again."""
        ...


class WordIndexRepair(Protocol):
    """Takes reports of damaged word indexes, to have them rebuilt."""

    def note_damage(self, namespace: Namespace) -> None:
        """A search could not use the project's index. It is rebuilt soon, if it is not being rebuilt."""
        ...


# Records near to a vector, and items of the graph near to a text: what pipelines and searches need of indexes.


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

        ``wholes_only``: as if no record had more than its first vector. ``model``: which made ``query``.

        Raises:
          StorageError: the index was not in memory and could not be read.
          EmbeddingError: too many others are waited for; or another model serves the namespace (by now).
          ActorStopped: the daemon is going down.
        """
        ...


class NearestGraphItems(Protocol):
    """Knows the vectors of entities, facts and procedures."""

    async def nearest(
        self, namespace: Namespace, query: str, limits: Mapping[GraphKind, int]
    ) -> dict[GraphKind, list[GraphItemId]]:
        """The items that are near to ``query``, best first, so many of each kind.

        Raises:
          EmbeddingError: the query cannot be embedded now.
          StorageError: the vectors cannot be read.
        """
        ...
