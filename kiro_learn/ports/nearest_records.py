"""Records near to a vector: what reconciliation and search need of the vector indexes."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.model.embedding_model import BUNDLED_MODEL, ModelIdentity
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Vector
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
