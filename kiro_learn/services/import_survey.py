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
"""Of events, that a model is shown at a time, as ``learning.extraction_bytes`` has it unless it was changed."""
BYTES_OF_A_TOKEN = 4
MEMORIES_PER_PROMPT = (0.6, 1.0)
"""That the built-in learner made, the least and the most ("Importing" in docs/benchmarks.md)."""
EVENTS_PER_SECOND = (268, 858)
"""That a daemon took in on a busy machine, and on a quiet one ("Importing" in docs/benchmarks.md)."""
BYTES_PER_SECOND = 3_000_000
"""Of sessions as they lie on the disk, that go in so (benchmarks/importing.py)."""


@attrs.define(kw_only=True)
class SourceSurvey:
    """What lies in one source."""

    name: str
    title: str
    sessions: int = 0
    size_bytes: int = 0
    events: Counter[EventKind] = attrs.Factory(Counter)
    failed: int = 0
    """Of the uses of tools."""
    days: set[date] = attrs.Factory(set)
    bytes_of: Counter[Namespace] = attrs.Factory(Counter)
    """Of events, by project."""

    def note(self, event: Event) -> None:
        """One more event that would be stored."""
        self.events[event.kind] += 1
        self.days.add(event.valid_time.date())
        self.bytes_of[event.namespace] += body_weight(event.body)
        if event.kind is EventKind.TOOL_USE:
            self.failed += _has_failed(event)

    @property
    def as_json(self) -> dict[str, Any]:
        """What is printed of it."""
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
    """What lies in all sources, and what would come of it."""

    sources: dict[str, SourceSurvey] = attrs.Factory(dict)
    kept: Counter[str] = attrs.Factory(Counter)
    """Memories of other memories, by the title of these."""
    kept_days: dict[str, set[date]] = attrs.Factory(dict)
    """When they were made, likewise."""
    skipped: Counter[str] = attrs.Factory(Counter)
    _seen: set[int] = attrs.Factory(set)
    """Hashes of the ids of events, since a session that was resumed may repeat the one before it."""

    def keep(self, title: str, made_on: date) -> None:
        """One more memory of another memory."""
        self.kept[title] += 1
        self.kept_days.setdefault(title, set()).add(made_on)

    def source_of(self, found: FoundSession) -> SourceSurvey:
        """That of the session, which is counted with it."""
        reader = found.reader
        source = self.sources.setdefault(reader.name, SourceSurvey(name=reader.name, title=reader.title))
        source.sessions += 1
        source.size_bytes += found.session.size_bytes
        return source

    def note(self, source: SourceSurvey, event: Event) -> None:
        """What ``source`` told, if none did before."""
        seen = hash(event.event_id)
        if seen not in self._seen:
            self._seen.add(seen)
            source.note(event)

    def skip(self, reason: str) -> None:
        """Something was left out."""
        self.skipped[reason] += 1

    @property
    def event_count(self) -> int:
        """How many events would be handed in."""
        return sum(source.events.total() for source in self.sources.values())

    @property
    def is_empty(self) -> bool:
        """There is nothing to bring in."""
        return not self.event_count and not self.kept.total()

    @property
    def memories(self) -> tuple[int, int]:
        """How many would be learned, the least and the most."""
        prompts = sum(source.events[EventKind.PROMPT] for source in self.sources.values())
        least, most = MEMORIES_PER_PROMPT
        return round(prompts * least), round(prompts * most)

    @property
    def seconds(self) -> tuple[float, float]:
        """How long it would take until all of it is stored, the least and the most."""
        slowest, fastest = EVENTS_PER_SECOND
        return self.event_count / fastest, self.event_count / slowest

    @property
    def calls(self) -> int:
        """About how often a model would be asked, if one learns."""
        sizes: Counter[Namespace] = Counter()
        for source in self.sources.values():
            sizes.update(source.bytes_of)
        return sum(math.ceil(size / CALL_BYTES) for size in sizes.values())

    @property
    def tokens(self) -> int:
        """At most so many would such a model be shown."""
        return sum(source.bytes_of.total() for source in self.sources.values()) // BYTES_OF_A_TOKEN

    @property
    def as_json(self) -> dict[str, Any]:
        """What is printed of them."""
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
    """As a learner is shown it."""
    return any(isinstance(part, ToolCall) and part.has_failed for part in parts_of(event))
