"""The part of the graph that a batch speaks of, while the batch is added to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import attrs

from kiro_learn.learning.graph.drafts import Source
from kiro_learn.model.graph import (
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Preference,
    Procedure,
    Relationship,
)
from kiro_learn.model.namespace import Namespace

NewId: TypeAlias = Callable[[GraphKind], GraphItemId]
I = TypeVar("I", Entity, Fact, Relationship, Procedure, Preference)  # noqa: E741  # an item


@attrs.frozen(kw_only=True)
class GraphState:
    """What the graph holds of the things that a batch speaks of."""

    entities: Sequence[Entity] = ()
    facts: Sequence[Fact] = ()
    """All of these entities, past ones too."""
    relationships: Sequence[Relationship] = ()
    procedures: Sequence[Procedure] = ()
    preferences: Sequence[Preference] = ()
    support: Mapping[GraphItemId, int] = attrs.field(factory=dict)
    """How many events speak for a fact."""


@attrs.frozen
class GraphPlan:
    """What to put: items, new and changed, and the events that speak for them."""

    items: Sequence[GraphItem]
    evidence: Sequence[Evidence]


def folded(text: str) -> str:
    """The form in which names and objects are compared: case and spaces do not matter, nor a full stop at the end."""
    return " ".join(text.casefold().split()).rstrip(".")


class WorkingGraph:
    """A graph in memory that knows what became different of it."""

    def __init__(self, state: GraphState, namespace: Namespace, new_id: NewId) -> None:
        self._before: dict[GraphItemId, GraphItem] = {}
        for items in (state.entities, state.facts, state.relationships, state.procedures, state.preferences):
            self._before |= {item.item_id: item for item in items}
        self._items = dict(self._before)
        self._evidence: dict[tuple[GraphItemId, str], Evidence] = {}
        self.support = dict(state.support)
        self.namespace = namespace
        self.new_id = new_id

    def items_of(self, value_type: type[I]) -> list[I]:
        """All items of one kind, those that were there before first."""
        return [item for item in self._items.values() if isinstance(item, value_type)]

    def put(self, item: GraphItem) -> None:
        """Put an item in place of what had its id."""
        self._items[item.item_id] = item

    def note_evidence(self, item_id: GraphItemId, source: Source, weight: float) -> bool:
        """Note that an event speaks for an item; False: that is noted already."""
        key = (item_id, source.event_id)
        if key in self._evidence:
            return False
        self._evidence[key] = Evidence(item_id, source.event_id, source.said_at, weight)
        self.support[item_id] = self.support.get(item_id, 0) + 1
        return True

    def plan(self) -> GraphPlan:
        """What became different, since it was made."""
        items = [item for item in self._items.values() if self._before.get(item.item_id) != item]
        return GraphPlan(items, list(self._evidence.values()))
