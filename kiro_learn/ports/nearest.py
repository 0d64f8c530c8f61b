"""Records near to a vector, and items of the graph near to a text: what pipelines and searches need of indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Vector
from kiro_learn.retrieval.ranking.vector_index import VectorRanking


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
