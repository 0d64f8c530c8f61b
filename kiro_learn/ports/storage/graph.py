"""The part of the store's contract that the graph memory stands on.

A write of items or evidence, and whatever forgets them, counts the namespace's generation up in the same commit, so
that a cache knows whether it is of now. When a record is forgotten, so are the items that only its events speak for,
and the episodes that were made of one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.graph import Entity, EntityType, Evidence, GraphItem, GraphItemId, GraphKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace

Period: TypeAlias = tuple[datetime | None, datetime | None]
"""From (inclusive) and to (exclusive); None: open."""


@attrs.frozen(kw_only=True)
class GraphWords:
    """A full-text search in one namespace, each kind ranked by itself."""

    namespace: Namespace
    words: tuple[str, ...]
    """As the query has them; the store quotes them. One that matches is enough; those that match all come first."""
    limits: dict[GraphKind, int]
    """Most hits of each kind that is searched: episodes (bm25 weights: summary 1, details .5, tags .3), facts,
    entities, procedures (name 1, trigger .8, steps .3)."""
    happened: Period = (None, None)
    """For episodes."""
    as_of: datetime | None = None
    """Facts that held then; None: current ones. Of procedures always current ones."""


@attrs.frozen(kw_only=True)
class GraphWalk:
    """A breadth-first walk from all seeds at once, both directions along edges."""

    namespace: Namespace
    seeds: tuple[GraphItemId, ...]
    depth: int = 2
    min_confidence: float = 0.3
    """Only edges strictly above it."""
    per_node: int = 10
    """Most facts and most edges of each entity, by confidence."""
    most_entities: int = 60
    most_facts: int = 150
    as_of: datetime | None = None


@attrs.frozen
class Reached:
    """An item that a walk reached: its distance, and for a relationship that of its nearer end."""

    item: GraphItem
    depth: int
    degree: int = 0
    """Of an entity: how many edges it has that may be walked."""


@attrs.frozen
class EntityName:
    """What one entity may be called by in a text."""

    entity_id: GraphItemId
    names: tuple[str, ...]
    """Its name, then its aliases."""
    type: EntityType
    mention_count: int
    last_referenced: datetime


@attrs.frozen(kw_only=True)
class GraphList:
    """A slice of one namespace's items of one kind: newest id first."""

    namespace: Namespace
    kind: GraphKind
    limit: int
    only_current: bool = True
    """Without what was closed, retired, superseded, or is a candidate."""
    as_of: datetime | None = None
    """Facts, relationships and preferences that held then; ``only_current`` does not matter then."""
    about: GraphItemId | None = None
    """Facts and relationships of this entity only."""
    text: str = ""
    """Only those whose name, subject or key contains this, ignoring case."""
    before: GraphItemId | None = None
    """Only those that come after this one in the list."""


@attrs.frozen(eq=False)
class GraphVectors:
    """Vectors of a namespace's items, of one model."""

    item_ids: tuple[GraphItemId, ...]
    rows: npt.NDArray[np.float32]
    """Of unit length, shape (items, dimensions)."""
    through: int
    """Pass this as ``after`` to get only those that were put later."""
    total: int
    """How many the namespace has now; where a cache holds more, some were deleted, and it loads all again."""


class GraphWrites(Protocol):
    """What one piece of writing may do with the graph. All of it is kept, or none."""

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        """Put each, in place of what had its id. A changed text loses its vector.

        Raises:
          StorageError: an entity that it names is not there.
        """
        ...

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Put each and answer those that were new; one row per item and event."""
        ...

    def put_graph_vectors(self, model: str, vectors: Sequence[tuple[GraphItemId, npt.NDArray[np.float32]]]) -> None:
        """Put vectors of unit length; one of an item that is gone is left out."""
        ...

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        """Every entity that has one of these as its name or an alias, ignoring case."""
        ...

    def find_graph_items(
        self, namespace: Namespace, kind: GraphKind, about: Collection[GraphItemId] = ()
    ) -> list[GraphItem]:
        """All facts or relationships, past ones too, of these entities; of procedures and preferences all current."""
        ...

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        """Those of these events that are evidence of something."""
        ...

    def count_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, int]:
        """How many events speak for each; an item without any is left out."""
        ...

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> int:
        """Delete items with their words, vectors and evidence; an entity with its facts and relationships.

        Answers how many of ``item_ids`` there were.
        """
        ...

    def put_compacted_events(self, event_ids: Collection[EventId], episode_id: GraphItemId) -> None:
        """Note into which episode these events were compacted; an event is compacted once."""
        ...


class GraphReads(Protocol):
    """What may be asked about the graph."""

    async def get_graph_generation(self, namespace: Namespace) -> int:
        """How many commits changed this namespace's graph."""
        ...

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        """What matches, best first, for each kind that was asked for."""
        ...

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        """What is reached: seeds first, then by depth, then by confidence, then by id. Few queries, not one a node."""
        ...

    async def list_entity_names(self, namespace: Namespace) -> list[EntityName]:
        """The names of all entities."""
        ...

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        """Those of these items that this namespace has."""
        ...

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        """The newest that fit."""
        ...

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        """The evidence of each, oldest first."""
        ...

    async def count_graph_items(self, namespace: Namespace) -> dict[GraphKind, int]:
        """How many current items of each kind there are."""
        ...

    async def list_graph_items_without_vector(self, model: str, *, limit: int) -> list[GraphItem]:
        """Current entities, facts, procedures and episodes of any namespace that this model has not embedded."""
        ...

    async def load_graph_vectors(self, namespace: Namespace, model: str, *, after: int = 0) -> GraphVectors:
        """The vectors that were put after ``after``."""
        ...

    async def list_uncompacted_sessions(self, namespace: Namespace, *, before: datetime, limit: int) -> list[str]:
        """Sessions that have events in no episode yet, and whose last event was before ``before``."""
        ...

    async def list_uncompacted_event_ids(self, namespace: Namespace, session_id: str, *, limit: int) -> list[EventId]:
        """The oldest events of a session that are in no episode yet, oldest first."""
        ...
