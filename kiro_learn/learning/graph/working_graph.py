"""The part of the graph that a batch speaks of, while the batch is added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import attrs

from kiro_learn.learning.graph.stated_facts import SAME
from kiro_learn.model.draft import Source
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
    bare,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace

NewId: TypeAlias = Callable[[GraphKind], GraphItemId]
EvidenceKey: TypeAlias = tuple[GraphItemId, EventId]
_Key: TypeAlias = tuple[object, ...]
I = TypeVar("I", Entity, Fact, Relationship, Procedure, Preference)  # noqa: E741  # an item


@attrs.frozen(kw_only=True)
class GraphState:
    """The part of the graph that a batch speaks of."""

    entities: Sequence[Entity] = ()
    """The entities that the batch names, and those that their facts and relationships lead to."""
    facts: Sequence[Fact] = ()
    """All facts of the entities that the batch names, past ones too."""
    relationships: Sequence[Relationship] = ()
    procedures: Sequence[Procedure] = ()
    """All procedures, past ones too."""
    preferences: Sequence[Preference] = ()
    """All preferences, past ones too."""
    evidence: Mapping[GraphItemId, Sequence[Evidence]] = attrs.field(factory=dict)
    """The evidence for all of these except the entities."""


@attrs.frozen(kw_only=True)
class GraphPlan:
    """The changes to make in the store."""

    items: Sequence[GraphItem]
    """The items to put: new and changed ones."""
    removed: Sequence[GraphItemId]
    """Items to delete: their events turned out to speak for other items."""
    evidence: Sequence[Evidence]
    """The rows to put: new and changed ones."""
    moved: Sequence[EvidenceKey]
    """Rows to delete whose items stay."""


def folded(text: str) -> str:
    """The form in which names and objects are compared: ``bare``, and with the usual one of a tool's two names."""
    return " ".join(SAME.get(word, word) for word in bare(text).split())


def spellings(name: str) -> Iterator[str]:
    """The forms in which the store may have this name: as given, without an article, and a tool's other name."""
    usual = folded(name)
    yield from (name, bare(name), usual)
    words = usual.split()
    for other, known in SAME.items():
        if known in words:
            yield " ".join(other if word == known else word for word in words)


class WorkingGraph:
    """A graph in memory that knows its changes."""

    def __init__(self, state: GraphState, namespace: Namespace, new_id: NewId) -> None:
        self._before: dict[GraphItemId, GraphItem] = {}
        for items in (state.entities, state.facts, state.relationships, state.procedures, state.preferences):
            self._before |= {item.item_id: item for item in items}
        self._items: dict[GraphItemId, GraphItem] = {}
        self._found_by: dict[_Key, dict[GraphItemId, Any]] = {}
        """The items by each of their keys, since a project may have many thousands of facts."""
        for item in self._before.values():
            self.put(item)
        self._evidence_before = {
            (item_id, each.event_id): each for item_id, evidence in state.evidence.items() for each in evidence
        }
        self._evidence = {item_id: list(evidence) for item_id, evidence in state.evidence.items()}
        self.namespace = namespace
        self.new_id = new_id

    def items_of(self, value_type: type[I]) -> list[I]:
        """All items of one kind, those that were there before first."""
        return list(self._found_by.get((value_type,), {}).values())

    def entity(self, entity_id: GraphItemId) -> Entity:
        """The entity with this id, which must exist."""
        found: Entity = self._found_by[(Entity,)][entity_id]
        return found

    def called(self, name: str) -> list[Entity]:
        """The entities with this name or alias."""
        return list(self._found_by.get((Entity, folded(name)), {}).values())

    def facts_of(self, entity_id: GraphItemId, object_: str | None = None) -> list[Fact]:
        """The facts of an entity; ``object_``: only those with this object, folded."""
        key: _Key = (Fact, entity_id) if object_ is None else (Fact, entity_id, object_)
        return list(self._found_by.get(key, {}).values())

    def edges_of(self, source_id: GraphItemId, type_: str) -> list[Relationship]:
        """The relationships of a type from an entity."""
        return list(self._found_by.get((Relationship, source_id, type_), {}).values())

    def put(self, item: GraphItem) -> None:
        """Put an item in the place of the one with its id."""
        before = self._items.get(item.item_id)
        keys = set(_keys_of(item))
        for gone in set() if before is None else set(_keys_of(before)) - keys:
            del self._found_by[gone][item.item_id]
        for key in keys:
            self._found_by.setdefault(key, {})[item.item_id] = item
        self._items[item.item_id] = item

    def remove(self, item_id: GraphItemId) -> None:
        """Remove an item and its evidence."""
        for key in set(_keys_of(self._items.pop(item_id))):
            del self._found_by[key][item_id]
        self._evidence.pop(item_id, None)

    def evidence_of(self, item_id: GraphItemId) -> Sequence[Evidence]:
        """The evidence for an item; for an entity, only that of this batch."""
        return self._evidence.get(item_id, ())

    def set_evidence(self, item_id: GraphItemId, evidence: Iterable[Evidence]) -> None:
        """Make ``evidence`` the whole evidence for an item."""
        self._evidence[item_id] = [attrs.evolve(each, item_id=item_id) for each in evidence]

    def note_mention(self, entity_id: GraphItemId, source: Source) -> bool:
        """Note that an event mentions an entity. False if that is noted already."""
        noted = self._evidence.setdefault(entity_id, [])
        if any(each.event_id == source.event_id for each in noted):
            return False
        noted.append(Evidence(entity_id, source.event_id, source.said_at))
        return True

    def plan(self) -> GraphPlan:
        """The changes since this graph was made."""
        evidence = {(each.item_id, each.event_id): each for rows in self._evidence.values() for each in rows}
        return GraphPlan(
            items=[item for item in self._items.values() if self._before.get(item.item_id) != item],
            removed=[item_id for item_id in self._before if item_id not in self._items],
            evidence=[each for key, each in evidence.items() if self._evidence_before.get(key) != each],
            moved=[key for key in self._evidence_before if key not in evidence and key[0] in self._items],
        )


def _keys_of(item: GraphItem) -> Iterator[_Key]:
    """The keys that an item is looked up by."""
    yield (type(item),)
    if isinstance(item, Entity):
        for name in (item.name, *item.aliases):
            yield (Entity, folded(name))
    elif isinstance(item, Fact):
        yield (Fact, item.entity_id)
        yield (Fact, item.entity_id, folded(item.object))
    elif isinstance(item, Relationship):
        yield (Relationship, item.source_id, item.type)
