"""The part of the store's contract for the graph memory.

When a record is forgotten, so are the items whose only evidence are its events.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

import attrs

from kiro_learn.model.graph import (
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    GraphPicture,
    PictureAsked,
    Relationship,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Matrix, Vector


@attrs.frozen(kw_only=True)
class GraphWords:
    """A full-text search in one namespace, each kind ranked by itself."""

    namespace: Namespace
    words: tuple[str, ...]
    """Words of the query, unquoted; the store quotes them. One matching word is enough; items that match all come
    first."""
    limits: dict[GraphKind, int]
    """The most hits of each kind to search: facts, entities (all columns have the same weight in bm25), and procedures
    (name 1, trigger .8, steps .3)."""
    as_of: datetime | None = None
    """Find facts that held at this time; None: current ones. Procedures are always current ones."""


@attrs.frozen(kw_only=True)
class GraphWalk:
    """A breadth-first walk from all seeds at once, both directions along edges."""

    namespace: Namespace
    seeds: tuple[GraphItemId, ...]
    depth: int = 2
    min_confidence: float = 0.3
    """Only edges with a higher confidence are walked."""
    per_node: int = 10
    """The most facts and the most edges of each entity, by confidence."""
    most_entities: int = 60
    most_facts: int = 150
    as_of: datetime | None = None
    """Walk what held at this time; None: what holds now."""


@attrs.frozen
class Reached:
    """An entity that a walk reached, or a fact about one, and how many edges away it is."""

    item: Entity | Fact
    depth: int
    degree: int = 0
    """For an entity: how many edges it has that may be walked."""


@attrs.frozen(kw_only=True)
class GraphList:
    """A slice of one namespace's items of one kind: newest id first."""

    namespace: Namespace
    kind: GraphKind
    limit: int
    only_current: bool = True
    """Leave out items that were closed, retired or superseded, and candidates."""
    as_of: datetime | None = None
    """List items that held at this time, procedures in their version of then, and entities known then; ``only_current``
    has no effect."""
    about: GraphItemId | None = None
    """Only facts and relationships of this entity."""
    text: str = ""
    """Only items whose name, subject or key contains this text, ignoring case."""
    before: GraphItemId | None = None
    """Only items that come after this one in the list."""


@attrs.frozen(eq=False)
class GraphVectors:
    """Vectors of a namespace's items, of one model."""

    item_ids: tuple[GraphItemId, ...]
    rows: Matrix
    """Rows of unit length, shape (items, dimensions)."""
    through: int
    """Pass it as ``after`` to get only vectors that are put later."""
    total: int
    """How many vectors the namespace has now. A reader that holds more reads all again, since some were deleted."""


class GraphWrites(Protocol):
    """Writes to the graph in one piece of work. All of them are kept, or none."""

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        """Put each item, in place of the one with its id.

        Raises:
          StorageError: an entity that an item names does not exist.
        """

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Put each piece of evidence, in place of the one of its item and event."""

    def delete_graph_evidence(self, keys: Collection[tuple[GraphItemId, EventId]]) -> None:
        """Delete the evidence of these items by these events."""

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        """Every entity with one of these names, as its name or an alias, ignoring case."""

    def read_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> GraphItem | None:
        """The item with this id, if it belongs to this namespace."""

    def find_graph_items(self, namespace: Namespace, kind: GraphKind) -> list[GraphItem]:
        """All procedures or preferences, including past ones."""

    def find_facts(
        self,
        namespace: Namespace,
        *,
        objects: Collection[str],
        about: Collection[GraphItemId] | None = None,
        predicates: Collection[str] = (),
    ) -> list[Fact]:
        """The facts of these entities (None: of any) that have one of these objects, as ``bare`` compares them, or one
        of these predicates, including past ones. An entity's other facts are not read, however many there are.
        """

    def find_relationships(
        self,
        namespace: Namespace,
        sources: Collection[GraphItemId],
        *,
        types: Collection[str],
        targets: Collection[GraphItemId],
        whole_types: Collection[str] = (),
    ) -> list[Relationship]:
        """Relationships of ``types`` from ``sources`` to ``targets``, and of ``whole_types`` to any; also past ones."""

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        """Which of these events are evidence of an item."""

    def find_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        """The evidence of each item, oldest first."""

    def put_graph_vectors(self, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
        """Put vectors of unit length, made by the model with this digest, in place of the items' earlier ones.

        A vector of a missing item is ignored. An item whose text changes loses its vector.
        """

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> None:
        """Delete items with their evidence, even unreadable ones; an entity also with its facts and relationships."""

    def forget_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> bool:
        """Delete an item of this namespace in the same way, but keep the ids of the events that are evidence of it, so
        that no learner reads them again. False: there is no such item.
        """


class GraphReads(Protocol):
    """Reads of the graph."""

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        """The matching items of each kind that was asked for, best first."""

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        """The items that the walk reaches: seeds first, then by depth, confidence and id. Takes few queries, not one a
        node.
        """

    async def list_candidate_facts(
        self, namespace: Namespace, about: Collection[GraphItemId], *, limit: int
    ) -> list[Fact]:
        """Open candidates of these entities, the surest first, then by id; at most ``limit`` for each entity and in
        all.
        """

    async def find_named_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        """Every entity with one of these names, as its name or an alias, ignoring case, by id. One query for all names.

        A name is compared whole, with its punctuation. A context block asks for 6,000 names at most: possible names in
        its message and in the one before.
        """

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        """Those of these items that belong to this namespace."""

    async def list_graph_items_without_vector(self, digest: str, *, limit: int) -> list[GraphItem]:
        """Current entities, facts and procedures of any namespace that have no vector of this model."""

    async def load_graph_vectors(self, namespace: Namespace, digest: str, *, after: int) -> GraphVectors:
        """The vectors that were put after ``after``, the oldest first; also those of past items."""

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        """The newest items that fit the query."""

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        """The evidence of each item, oldest first."""

    async def read_graph_picture(self, asked: PictureAsked) -> GraphPicture:
        """A picture of the newest memories and their subjects. Each memory is joined to its project, concepts,
        entities and files; if memories are not shown, these are joined to each other. A concept or a file is shown if
        two of these memories share it.
        """
