"""What an import would bring, counted by source before anything is stored."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from typing import Any

import attrs

from kiro_learn.learning.extraction.framing import ToolCall, parts_of
from kiro_learn.model.event import Event, EventKind, body_weight
from kiro_learn.model.namespace import Namespace
from kiro_learn.services.histories import FoundSession

CALL_BYTES = 262_144
"""The bytes of events that a model is shown at a time: the default of ``learning.extraction_bytes``."""
BYTES_OF_A_TOKEN = 4
MEMORIES_PER_PROMPT = (0.6, 1.0)
"""Memories that the built-in learner made of one prompt, least and most ("Importing" in docs/benchmarks.md)."""
EVENTS_PER_SECOND = (268, 858)
"""Events that a daemon stored per second, on a busy and on a quiet machine ("Importing" in docs/benchmarks.md)."""
BYTES_PER_SECOND = 3_000_000
"""Bytes of sessions on the disk that an import takes per second (benchmarks/importing.py)."""


@attrs.define(kw_only=True)
class SourceSurvey:
    """The contents of one source, counted."""

    name: str
    title: str
    sessions: int = 0
    size_bytes: int = 0
    events: Counter[EventKind] = attrs.Factory(Counter)
    failed: int = 0
    """How many of the tool uses failed."""
    days: set[date] = attrs.Factory(set)
    bytes_of: Counter[Namespace] = attrs.Factory(Counter)
    """The bytes of the events of each project."""

    def note(self, event: Event) -> None:
        """Count one more event that would be stored."""
        self.events[event.kind] += 1
        self.days.add(event.valid_time.date())
        self.bytes_of[event.namespace] += body_weight(event.body)
        if event.kind is EventKind.TOOL_USE:
            self.failed += _has_failed(event)

    @property
    def as_json(self) -> dict[str, Any]:
        """The counts as the command prints them in JSON."""
        return {
            "name": self.name,
            "sessions": self.sessions,
            "bytes": self.size_bytes,
            "prompts": self.events[EventKind.PROMPT],
            "tool_uses": self.events[EventKind.TOOL_USE],
            "failed": self.failed,
            "answers": self.events[EventKind.SESSION_SUMMARY],
            "days": len(self.days),
            "first_day": min(self.days).isoformat() if self.days else None,
            "projects": len(self.bytes_of),
        }


@attrs.define
class Survey:
    """The contents of all sources, counted, and what an import would make of them."""

    sources: dict[str, SourceSurvey] = attrs.Factory(dict)
    kept: Counter[str] = attrs.Factory(Counter)
    """How many memories each other memory program keeps, by the title of its reader."""
    kept_days: dict[str, set[date]] = attrs.Factory(dict)
    """The days on which they were made, by the same title."""
    skipped: Counter[str] = attrs.Factory(Counter)
    _seen: set[int] = attrs.Factory(set)
    """Hashes of the ids of events, since a resumed session may repeat the one before it."""

    def keep(self, title: str, made_on: date) -> None:
        """Count one more memory that another memory program keeps."""
        self.kept[title] += 1
        self.kept_days.setdefault(title, set()).add(made_on)

    def source_of(self, found: FoundSession) -> SourceSurvey:
        """The survey of the session's source; counts the session in it."""
        reader = found.reader
        source = self.sources.setdefault(reader.name, SourceSurvey(name=reader.name, title=reader.title))
        source.sessions += 1
        source.size_bytes += found.session.size_bytes
        return source

    def note(self, source: SourceSurvey, event: Event) -> None:
        """Count ``event`` in ``source``, unless it was counted before."""
        seen = hash(event.event_id)
        if seen not in self._seen:
            self._seen.add(seen)
            source.note(event)

    def skip(self, reason: str) -> None:
        """Count something that was left out."""
        self.skipped[reason] += 1

    @property
    def event_count(self) -> int:
        """How many events would be handed in."""
        return sum(source.events.total() for source in self.sources.values())

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to import."""
        return not self.event_count and not self.kept.total()

    @property
    def memories(self) -> tuple[int, int]:
        """How many memories would be learned, least and most."""
        prompts = sum(source.events[EventKind.PROMPT] for source in self.sources.values())
        least, most = MEMORIES_PER_PROMPT
        return round(prompts * least), round(prompts * most)

    @property
    def seconds(self) -> tuple[float, float]:
        """The seconds until all would be stored, least and most."""
        slowest, fastest = EVENTS_PER_SECOND
        return self.event_count / fastest, self.event_count / slowest

    @property
    def calls(self) -> int:
        """About how many calls of a model learning would take, if a model learns."""
        sizes: Counter[Namespace] = Counter()
        for source in self.sources.values():
            sizes.update(source.bytes_of)
        return sum(math.ceil(size / CALL_BYTES) for size in sizes.values())

    @property
    def tokens(self) -> int:
        """The most tokens that such a model would be shown."""
        return sum(source.bytes_of.total() for source in self.sources.values()) // BYTES_OF_A_TOKEN

    @property
    def as_json(self) -> dict[str, Any]:
        """The counts as the command prints them in JSON."""
        return {
            "sources": [source.as_json for source in self.sources.values()],
            "kept": dict(self.kept),
            "kept_days": {title: len(days) for title, days in self.kept_days.items()},
            "events": self.event_count,
            "memories": list(self.memories),
            "seconds": [round(each, 1) for each in self.seconds],
            "calls": self.calls,
            "tokens": self.tokens,
            "skipped": dict(self.skipped),
        }


def _has_failed(event: Event) -> bool:
    """Whether the tool use failed, by the parts of the event that a learner is shown."""
    return any(isinstance(part, ToolCall) and part.has_failed for part in parts_of(event))
