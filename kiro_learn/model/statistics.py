"""Counts of events and records, what was asked of models, and what went on in a project, as status, pages and reports
show them; and what is seen of a database that a server keeps.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, TypeAlias

import attrs

from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import FeedbackCounts


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
    """What it was renamed to; else its folder, or its id."""
    event_count: int
    memory_count: int
    last_event_at: datetime | None
    folder: str | None = None
    """Whole, if it is known."""
    name: str | None = None
    """That a person gave it."""
    waiting_count: int = 0
    """Events not learned yet."""


@attrs.frozen
class Stats:
    """Counts over one namespace, or over all."""

    total_events: int
    total_memories: int
    total_projects: int
    total_concepts: int
    observation_types: dict[str, int]
    event_kinds: dict[str, int]


@attrs.frozen
class LlmCall:
    """A call of a model that was begun."""

    day: date
    namespace: Namespace
    started_at: float
    """In seconds, on the clock of the event loop."""


@attrs.frozen(kw_only=True)
class LlmUsage:
    """What one project asked of models on one day (UTC). The extractive learner is none."""

    day: date
    namespace: Namespace
    call_count: int
    """Answered or not."""
    failure_count: int
    characters_in: int
    """Of prompts."""
    characters_out: int
    """Of answers."""
    seconds: float

    def __add__(self, other: LlmUsage) -> LlmUsage:
        """Of the same day and project."""
        return attrs.evolve(
            self,
            call_count=self.call_count + other.call_count,
            failure_count=self.failure_count + other.failure_count,
            characters_in=self.characters_in + other.characters_in,
            characters_out=self.characters_out + other.characters_out,
            seconds=self.seconds + other.seconds,
        )


@attrs.frozen(kw_only=True)
class Day:
    """What went on in one day (UTC)."""

    learned: int = 0
    """Records that were made then and are there."""
    told: int = 0
    """Records that a session was told, as far as sessions are remembered, by the prompt that was told."""
    prompts: int = 0
    sessions: int = 0
    calls: int = 0
    """Of models."""
    failures: int = 0


@attrs.frozen(kw_only=True)
class Days:
    """What went on day by day, and what there is, in one project or all."""

    days: dict[date, Day]
    """Those on which anything went on."""
    memory_count: int
    session_counts: dict[Namespace, int]
    feedback: FeedbackCounts
    """What became of all that was told and is there."""


Period: TypeAlias = Literal["week", "month"]
"""How far a report looks back."""


@attrs.frozen(kw_only=True)
class Session:
    """One session of an agent in one project, by the events that it reported."""

    namespace: Namespace
    session_id: str
    started_at: datetime
    last_event_at: datetime
    last_event_id: EventId
    event_count: int
    prompt_count: int


@attrs.frozen(kw_only=True)
class SessionHead:
    """A session in a list: what it began with, and how much was learned from it."""

    session: Session
    opening: Event | None
    """Its first prompt; its first event if it has none; None if that cannot be read."""
    memory_count: int
    """Memories that cite an event of it."""


@attrs.frozen
class NamedRecord:
    """A memory by its name."""

    record_id: RecordId
    title: str


@attrs.frozen(kw_only=True)
class ToldSession:
    """A session that was told a memory."""

    namespace: Namespace
    session_id: str
    prompt_number: int
    """As in ``ToldItem``."""
    last_prompt_at: datetime | None
    """When it asked last; None if it never did."""


@attrs.frozen(kw_only=True)
class Activity:
    """Counts of a project's records."""

    observations: int
    """All records, whether captured directly or learned."""
    since: int
    """Made since a moment that was asked about."""
    captured: int
    """Captured directly."""
    knowledge: int
    stale: int
    """Known to cite files that changed since."""
    types: dict[str, int]
    """By ``MemoryRecord.type_name``, most first."""
    days: dict[date, int]
    """Made on each day (UTC) since that moment that has any, oldest first."""


@attrs.frozen(kw_only=True)
class TokenEconomics:
    """What agents were told from memory, beside what it was made of; of the sessions that are remembered."""

    tellings: int
    """A record, told to a session."""
    told_bytes: int
    """Of titles, summaries and facts, each time."""
    replaced_bytes: int
    """Of the events and captured texts that these records came from, each time."""

    @property
    def saved_bytes(self) -> int:
        """How much less was told; negative where memories are longer than what they came from."""
        return self.replaced_bytes - self.told_bytes

    @property
    def reduction_percent(self) -> float:
        """``saved_bytes`` as a share of what was replaced, to one decimal; 0 where nothing was told."""
        return round(100 * self.saved_bytes / self.replaced_bytes, 1) if self.replaced_bytes else 0.0


@attrs.frozen(kw_only=True)
class ServerFacts:
    """Of one database. Where there is a problem, the rest is what was seen before it."""

    name: str
    """For people: the database and where its server is, without user and password."""
    problem: str = ""
    """Why a daemon cannot use it; empty if it can."""
    hint: str = ""
    """What helps."""
    server_version: str = ""
    schema_version: int = 0
    """0: there is no schema of ours yet; the first daemon makes it."""
    bytes: int = 0
    """Of the tables with their indexes."""
    daemon_count: int = 0
    """Of daemons that use it now."""
