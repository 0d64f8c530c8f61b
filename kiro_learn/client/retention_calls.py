"""Calls about what leaves the store by age; each answers the daemon's JSON as it is."""

from __future__ import annotations

from kiro_learn.client import reading
from kiro_learn.client.building import get_call, post_call
from kiro_learn.client.call import LEARNING_PATIENCE_SECONDS, Call, Json


def preview(rules: dict[str, int]) -> Call[Json]:
    """What would go now; ``rules`` are days by name (``event_days``), instead of those of the settings."""
    return get_call("/api/retention", reading.json_object, **rules)._replace(patience_seconds=LEARNING_PATIENCE_SECONDS)


def apply(rules: dict[str, int]) -> Call[Json]:
    """Let it go, and answer what went. May take as long as rewriting the database takes."""
    return post_call("/api/retention", reading.json_object, is_long=True, **rules)
