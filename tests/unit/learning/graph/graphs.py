"""A graph that learns drafts, and is kept in a store between batches."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any, cast

from kiro_learn.model.draft import (
    EntityDraft,
    FactDraft,
    GraphDrafts,
    PreferenceDraft,
    ProcedureDraft,
    Source,
)
from kiro_learn.model.graph import (
    Entity,
    EntityType,
    Fact,
    GraphItem,
    Preference,
    PreferenceCategory,
    Procedure,
    Relationship,
    SourceType,
)
from kiro_learn.model.ids import EventId
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.testing.simulation import in_place
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.storage.builders import MINE


def day(number: float) -> datetime:
    """The moment ``number`` days after the beginning of 2026."""
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


class Numbers:
    """A clock that stands on a day after all days of the tests, and makes ids from a counter."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def utc_now(self) -> datetime:
        return day(1_000)

    def new_ulid(self) -> str:
        return f"{next(self._numbers):026}"


class Graph:
    """A graph in a store, which learns batch after batch as a learning run does."""

    def __init__(self) -> None:
        self.storage = InMemoryStorage()
        self._learner = GraphLearner(clock=cast("ClockAndIds", Numbers()), offload=in_place, enabled=True)

    @property
    def items(self) -> list[GraphItem]:
        return self.storage.graph_items(MINE)

    def learn(self, *drafts: Any) -> None:
        def of(kind: type) -> list[Any]:
            return [draft for draft in drafts if isinstance(draft, kind)]

        batch = GraphDrafts(
            entities=of(EntityDraft),
            facts=of(FactDraft),
            procedures=of(ProcedureDraft),
            preferences=of(PreferenceDraft),
        )
        self.storage.write_now(lambda transaction: self._learner.commit(transaction, MINE, batch))

    def all(self, kind: type) -> list[Any]:
        return sorted((item for item in self.items if isinstance(item, kind)), key=lambda item: item.item_id)

    def now(self, predicate: str) -> set[str]:
        """The objects of the current facts with this predicate."""
        return {fact.object for fact in self.all(Fact) if fact.predicate == predicate and fact.is_current}

    def on(self, at: float, predicate: str) -> set[str]:
        """The objects of the facts that held on a day, by today's knowledge."""
        facts = [fact for fact in self.all(Fact) if fact.predicate == predicate and not fact.is_candidate]
        return {fact.object for fact in facts if fact.validity.holds(day(at))}

    def told(self) -> set[tuple[object, ...]]:
        """All current and ended items and the edges, without their ids."""
        found: set[tuple[object, ...]] = set()
        for item in self.items:
            if isinstance(item, Fact):
                found.add((item.predicate, item.object, item.confidence, item.is_candidate, item.validity))
            elif isinstance(item, Preference):
                found.add((item.value, item.strength, item.evidence_count, item.validity))
            elif isinstance(item, Procedure):
                found.add((item.steps, item.version, item.confidence, item.superseded_by is None))
        return found | self.edges()

    def edges(self) -> set[tuple[str, str, str]]:
        """Source, type and target of each current edge."""
        names = {entity.item_id: entity.name for entity in self.all(Entity)}
        return {
            (names[edge.source_id], edge.type, names[edge.target_id])
            for edge in self.all(Relationship)
            if edge.validity.is_current
        }
