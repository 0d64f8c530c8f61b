"""Counts of events and records, as the status and the lists show them."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen
class EmbeddingCounts:
    """Records, how many of them have a vector, and how many were set aside."""

    total: int
    embedded: int
    set_aside: int


@attrs.frozen
class ProjectInfo:
    """One project, as the lists show it."""

    namespace: Namespace
    project_id: str
    display_name: str
    event_count: int
    memory_count: int
    last_event_at: datetime | None


@attrs.frozen
class Stats:
    """Counts over one namespace, or over all."""

    total_events: int
    total_memories: int
    total_projects: int
    total_concepts: int
    observation_types: dict[str, int]
    event_kinds: dict[str, int]
