"""The rows of the documented example: facts about Kira and Otto, and an episode of three days ago.

Near them are things that must not be told: a value that ended, an edge of too low confidence to be walked, and an
episode about something else.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kiro_learn.model.graph import (
    Entity,
    EntityType,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Procedure,
    Relationship,
    SourceType,
    Validity,
)
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, ObservationType

MESSAGE = "Can you deploy the Kira app like we did last time?"
BLOCK = """\
### Known Context
- **Kira** (project): AI partner product, deployed on Vercel
- Otto dislikes Docker (confidence: 0.95)
- Kira runs on Vercel hobby plan (confidence: 0.9)

### Relevant History
- [3 days ago] Deployed Kira to Vercel using edge functions successfully
- [3 days ago] Configured vercel.json for edge runtime

### Learned Procedures
- **Deploy to Vercel** (confidence: 0.8): Check vercel.json → run tests → vercel --prod → verify URL"""


class Kira:
    """The rows, for one project at one time."""

    def __init__(self, namespace: Namespace, now: datetime) -> None:
        self._namespace = namespace
        self._now = now
        self._numbers = iter(range(1, 1_000))

    def _id(self, kind: GraphKind) -> GraphItemId:
        return GraphItemId(f"{kind.id_prefix}{next(self._numbers):026}")

    def _entity(self, name: str, type_: EntityType, description: str = "", **values: Any) -> Entity:
        return Entity(
            item_id=self._id(GraphKind.ENTITY),
            namespace=self._namespace,
            name=name,
            type=type_,
            description=description,
            first_seen=self._now,
            last_referenced=self._now,
            **values,
        )

    def _edge(self, source: Entity, type_: str, target: Entity, confidence: float) -> Relationship:
        return Relationship(
            item_id=self._id(GraphKind.RELATIONSHIP),
            namespace=self._namespace,
            source_id=source.item_id,
            target_id=target.item_id,
            type=type_,
            confidence=confidence,
            validity=Validity(observed_at=self._now),
        )

    def _fact(self, about: Entity, predicate: str, object_: str, confidence: float, **validity: Any) -> Fact:
        return Fact(
            item_id=self._id(GraphKind.FACT),
            namespace=self._namespace,
            entity_id=about.item_id,
            subject=about.name,
            predicate=predicate,
            object=object_,
            confidence=confidence,
            source_type=SourceType.STATED,
            last_confirmed_at=self._now,
            validity=Validity(observed_at=self._now - timedelta(days=60), **validity),
        )

    def graph(self, *, with_soft_distractors: bool = False) -> list[GraphItem]:
        kira = self._entity(
            "Kira", EntityType.PROJECT, "AI partner product, deployed on Vercel", importance=8, aliases=("Kira app",)
        )
        otto = self._entity("Otto", EntityType.PERSON, "Primary user", importance=10)
        vercel = self._entity("Vercel", EntityType.TOOL, "Deployment platform", importance=6)
        edge = self._entity("edge_functions", EntityType.CONCEPT)
        no_docker = self._entity("no_docker", EntityType.CONCEPT, importance=4)
        netlify = self._entity("Netlify", EntityType.TOOL, "Old platform", importance=3)
        items: list[GraphItem] = [kira, otto, vercel, edge, no_docker, netlify]
        items += [
            self._edge(kira, "deployed_on", vercel, 0.95),
            self._edge(kira, "uses", edge, 0.9),
            self._edge(otto, "created", kira, 1.0),
            self._edge(otto, "prefers", no_docker, 0.9),
            self._edge(kira, "deployed_on", netlify, 0.3),
            self._fact(otto, "dislikes", "Docker", 0.95),
            self._fact(kira, "runs_on", "Vercel hobby plan", 0.9),
            self._fact(kira, "runs_on", "Netlify", 1.0, valid_until=self._now - timedelta(days=30)),
            Procedure(
                item_id=self._id(GraphKind.PROCEDURE),
                namespace=self._namespace,
                name="Deploy to Vercel",
                trigger="user asks to deploy, mentions Vercel or production",
                steps=("Check vercel.json", "run tests", "vercel --prod", "verify URL"),
                confidence=0.8,
                created_at=self._now,
            ),
        ]
        return [*items, self._fact(otto, "owns", "a bicycle", 0.6)] if with_soft_distractors else items

    def _record(self, days: int, title: str, summary: str, importance: int) -> MemoryRecord:
        number = f"{next(self._numbers):026}"
        return MemoryRecord(
            record_id=RecordId(f"mr_{number}"),
            namespace=self._namespace,
            strategy="test",
            title=title,
            summary=summary,
            observation_type=ObservationType.SESSION_SUMMARY,
            source_event_ids=(EventId(number),),
            created_at=self._now - timedelta(days=days, minutes=5),
            importance=importance,
        )

    def records(self, *, with_soft_distractors: bool = False) -> list[MemoryRecord]:
        deployment = "Deployed Kira to Vercel using edge functions successfully"
        found = [
            self._record(3, deployment, "The Kira app was deployed to production.", 7),
            self._record(3, "Configured vercel.json for edge runtime", "Part of the Kira app deploy.", 5),
            self._record(3, "Talked about lunch plans", "Noodles, most likely.", 2),
        ]
        if with_soft_distractors:
            found += [
                self._record(40, "Discussed deploy costs for Kira", "They are low.", 4),
                self._record(60, "Shipped the landing page", "It was pushed to prod.", 4),
                self._record(75, "Pushed a hotfix to prod", "A redirect was wrong.", 3),
            ]
        return found
