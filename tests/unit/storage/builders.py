"""Values to put into a store; a test names only the fields that matter to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from kiro_learn.model.event import Event, EventKind, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.model.vectors import DIMENSION, Parts, Vector

MINE = namespace_of("ann", "a" * 64)
OTHERS = namespace_of("ann", "b" * 64)
DAWN = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def event_id(number: int) -> EventId:
    return EventId(f"{number:026}")


def record_id(number: int) -> RecordId:
    return RecordId(f"mr_{number:026}")


def at(minute: float) -> datetime:
    return DAWN + timedelta(minutes=minute)


def event(number: int, **values: Any) -> Event:
    defaults: dict[str, Any] = {
        "event_id": event_id(number),
        "session_id": "session",
        "actor_id": "ann",
        "namespace": MINE,
        "schema_version": 1,
        "kind": EventKind.PROMPT,
        "body": TextBody(f"prompt {number}"),
        "valid_time": at(number),
        "source": Source(surface="api", version="1", client_id="test"),
    }
    return Event(**defaults | values)


def record(number: int, title: str = "a title", **values: Any) -> MemoryRecord:
    defaults: dict[str, Any] = {
        "record_id": record_id(number),
        "namespace": MINE,
        "strategy": "test",
        "title": title,
        "summary": "a summary",
        "observation_type": ObservationType.DISCOVERY,
        "source_event_ids": (event_id(number),),
        "created_at": at(number),
    }
    return MemoryRecord(**defaults | values)


def vector(seed: int) -> Vector:
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


def parts(*seeds: int) -> Parts:
    """A vector for the whole text, and one for each further window."""
    return np.stack([vector(seed) for seed in seeds])


def project(name: str) -> Namespace:
    return namespace_of("ann", name)
