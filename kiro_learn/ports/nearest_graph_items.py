"""The port to items of the graph that are near to a text in meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.namespace import Namespace


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
