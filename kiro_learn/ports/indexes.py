"""What a search needs from actors: an index of the graph, and background work that it requests without waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import SearchParams


class TermLookup(Protocol):
    """Looks up the terms of a query that was cut off at its deadline, so that the next search with them is fast."""

    def look_up(self, params: SearchParams) -> None:
        """Look the terms up soon; if too many wait already, do nothing until a prompt is late with them again."""


class WordIndexRepair(Protocol):
    """Takes reports of damaged word indexes, to have them rebuilt."""

    def note_damage(self, namespace: Namespace) -> None:
        """Note that a search could not use the project's index. It is rebuilt soon, unless that is going on already."""


class NearestGraphItems(Protocol):
    """Knows the vectors of entities, facts and procedures."""

    async def nearest(
        self, namespace: Namespace, query: str, limits: Mapping[GraphKind, int]
    ) -> dict[GraphKind, list[GraphItemId]]:
        """The items nearest to ``query``, best first; ``limits`` has the most of each kind.

        Raises:
          EmbeddingError: the query cannot be embedded now.
          StorageError: the vectors cannot be read.
        """
