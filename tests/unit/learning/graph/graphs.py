"""A graph that learns drafts, as a store would keep it between batches."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import attrs

from kiro_learn.learning.graph.drafts import FactDraft, GraphDrafts, PreferenceDraft, ProcedureDraft, Source
from kiro_learn.learning.graph.planning import plan_graph
from kiro_learn.learning.graph.working_graph import GraphState
from kiro_learn.model.graph import (
    Entity,
    EntityType,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Preference,
    PreferenceCategory,
    Procedure,
    Relationship,
    SourceType,
)
from kiro_learn.model.ids import EventId
from tests.unit.storage.builders import MINE


def day(number: float) -> datetime:
    """So many days after the beginning of 2026."""
    return datetime.fromtimestamp(datetime(2026, 1, 1, tzinfo=UTC).timestamp() + number * 86_400, UTC)


def source(at: float, event: int = 0) -> Source:
    return Source(event_id=EventId(f"{event or int(at * 1000):026}"), session_id="s", said_at=day(at))


def said(at: float, predicate: str, object_: str, **values: Any) -> FactDraft:
    defaults: dict[str, Any] = {
        "subject": "Kira",
        "subject_type": EntityType.PROJECT,
        "predicate": predicate,
        "object": object_,
        "confidence": 1.0,
        "source_type": SourceType.STATED,
        "source": source(at),
    }
    return FactDraft(**defaults | values)


def wants(at: float, value: str, **values: Any) -> PreferenceDraft:
    defaults: dict[str, Any] = {
        "category": PreferenceCategory.TOOLS,
        "key": "editor",
        "value": value,
        "strength": 0.9,
        "source_type": SourceType.STATED,
        "source": source(at),
    }
    return PreferenceDraft(**defaults | values)


def way(at: float, *steps: str, **values: Any) -> ProcedureDraft:
    defaults: dict[str, Any] = {
        "name": "Deploy",
        "steps": steps,
        "confidence": 0.8,
        "source_type": SourceType.STATED,
        "source": source(at),
    }
    return ProcedureDraft(**defaults | values)


@attrs.define
class Graph:
    """Learns batch after batch."""

    items: dict[GraphItemId, GraphItem] = attrs.Factory(dict)
    events: dict[GraphItemId, set[EventId]] = attrs.Factory(dict)
    _numbers: Any = attrs.Factory(itertools.count)

    def learn(self, *drafts: Any) -> None:
        def of(kind: type) -> list[Any]:
            return [draft for draft in drafts if isinstance(draft, kind)]

        batch = GraphDrafts(facts=of(FactDraft), procedures=of(ProcedureDraft), preferences=of(PreferenceDraft))
        state = GraphState(
            entities=self.all(Entity),
            facts=self.all(Fact),
            relationships=self.all(Relationship),
            procedures=self.all(Procedure),
            preferences=self.all(Preference),
            support={item_id: len(events) for item_id, events in self.events.items()},
        )
        plan = plan_graph(batch, state, namespace=MINE, new_id=self._new_id)
        self.items |= {item.item_id: item for item in plan.items}
        for evidence in plan.evidence:
            self.events.setdefault(evidence.item_id, set()).add(evidence.event_id)

    def _new_id(self, kind: GraphKind) -> GraphItemId:
        return GraphItemId(f"{kind.id_prefix}{next(self._numbers):026}")

    def all(self, kind: type) -> list[Any]:
        return [item for item in self.items.values() if isinstance(item, kind)]

    def now(self, predicate: str) -> set[str]:
        """The objects that hold."""
        return {fact.object for fact in self.all(Fact) if fact.predicate == predicate and fact.is_current}

    def on(self, at: float, predicate: str) -> set[str]:
        """The objects that held on a day, by what is known now."""
        facts = [fact for fact in self.all(Fact) if fact.predicate == predicate and not fact.is_candidate]
        return {fact.object for fact in facts if fact.validity.holds(day(at))}

    def edges(self) -> set[tuple[str, str, str]]:
        """Source, type and target of each that holds."""
        names = {entity.item_id: entity.name for entity in self.all(Entity)}
        return {
            (names[edge.source_id], edge.type, names[edge.target_id])
            for edge in self.all(Relationship)
            if edge.validity.is_current
        }
