"""The part of the store's contract that the graph memory stands on.

When a record is forgotten, so are the items that only its events speak for.
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
    """As the query has them; the store quotes them. One that matches is enough; those that match all come first."""
    limits: dict[GraphKind, int]
    """Most hits of each kind that is searched: facts, entities (all columns weigh the same in bm25), and procedures
    (name 1, trigger .8, steps .3)."""
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
    """What held then; None: what holds now."""


@attrs.frozen
class Reached:
    """An entity that a walk reached, or a fact of one, and how far that is."""

    item: Entity | Fact
    depth: int
    degree: int = 0
    """Of an entity: how many edges it has that may be walked."""


@attrs.frozen(kw_only=True)
class GraphList:
    """A slice of one namespace's items of one kind: newest id first."""

    namespace: Namespace
    kind: GraphKind
    limit: int
    only_current: bool = True
    """Without what was closed, retired, superseded, or is a candidate."""
    as_of: datetime | None = None
    """Those that held then, procedures in the version of then, and entities that were known; ``only_current`` does not
    matter then."""
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
    rows: Matrix
    """Of unit length, shape (items, dimensions)."""
    through: int
    """Pass this as ``after`` to get only those that were put later."""
    total: int
    """How many the namespace has now; where a reader holds more, some were deleted, and it reads all again."""


class GraphWrites(Protocol):
    """What one piece of writing may do with the graph. All of it is kept, or none."""

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        """Put each, in place of what had its id.

        Raises:
          StorageError: an entity that it names is not there.
        """

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Put each, in place of what there was of its item and event."""

    def delete_graph_evidence(self, keys: Collection[tuple[GraphItemId, EventId]]) -> None:
        """Delete what these events say of these items."""

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        """Every entity that has one of these as its name or an alias, ignoring case."""

    def read_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> GraphItem | None:
        """The item with this id, if this namespace has it."""

    def find_graph_items(self, namespace: Namespace, kind: GraphKind) -> list[GraphItem]:
        """All procedures or preferences; past ones too."""

    def find_facts(
        self,
        namespace: Namespace,
        *,
        objects: Collection[str],
        about: Collection[GraphItemId] | None = None,
        predicates: Collection[str] = (),
    ) -> list[Fact]:
        """The facts of these entities (None: of any) that have one of these objects, as ``bare`` compares them, or one
        of these predicates; past ones too. However many others an entity has, they are not read.
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
        """Those of ``types`` from ``sources`` to ``targets``, and those of ``whole_types`` to any; past ones too."""

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        """Those of these events that are evidence of something."""

    def find_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        """The evidence of each, oldest first."""

    def put_graph_vectors(self, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
        """Put vectors of unit length, made by the model with this digest, in place of what the items had.

        One of an item that is gone is left out. An item whose text changes loses its vector.
        """

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> None:
        """Delete items with their evidence, readable or not; an entity with its facts and relationships."""

    def forget_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> bool:
        """Delete an item of this namespace in the same way, and keep the ids of the events that are evidence of what
        goes: they stay known, so that no learner reads them again. False: there is none.
        """


class GraphReads(Protocol):
    """What may be asked about the graph."""

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        """What matches, best first, for each kind that was asked for."""

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        """What is reached: seeds first, then by depth, then by confidence, then by id. Few queries, not one a node."""

    async def list_candidate_facts(
        self, namespace: Namespace, about: Collection[GraphItemId], *, limit: int
    ) -> list[Fact]:
        """Open candidates of these entities, the surest first, then by id; at most ``limit`` of each and in all."""

    async def find_named_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        """Every entity that has one of these as its name or an alias, ignoring case, by id. One query for all names.

        A name is compared whole and with its signs. A context block asks for 6,000 names at most: those that may stand
        in its message, and those in the one before.
        """

    async def get_graph_items(
        self, namespace: Namespace, item_ids: Collection[GraphItemId]
    ) -> dict[GraphItemId, GraphItem]:
        """Those of these items that this namespace has."""

    async def list_graph_items_without_vector(self, digest: str, *, limit: int) -> list[GraphItem]:
        """Current entities, facts and procedures of any namespace that have no vector of this model."""

    async def load_graph_vectors(self, namespace: Namespace, digest: str, *, after: int) -> GraphVectors:
        """The vectors that were put after ``after``, the oldest first; also of items that hold no longer."""

    async def list_graph_items(self, query: GraphList) -> list[GraphItem]:
        """The newest that fit."""

    async def get_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        """The evidence of each, oldest first."""

    async def read_graph_picture(self, asked: PictureAsked) -> GraphPicture:
        """The newest memories and what they are about. A memory is joined to that; where memories are not shown, what
        one is about is joined directly. A concept or a file is there if two of these memories share it.
        """
