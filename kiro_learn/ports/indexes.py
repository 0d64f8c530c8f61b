"""What a search needs of actors: an index of the graph, and background work that it requests and does not wait for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import SearchParams


class TermLookup(Protocol):
    """Looks up the terms of a query that was cut off at its deadline, for the next one."""

    def look_up(self, params: SearchParams) -> None:
        """Soon; or, if others wait already, when a prompt has been late with them again."""


class WordIndexRepair(Protocol):
    """Takes reports of damaged word indexes, to have them rebuilt."""

    def note_damage(self, namespace: Namespace) -> None:
        """A search could not use the project's index. It is rebuilt soon, if it is not being rebuilt."""


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
