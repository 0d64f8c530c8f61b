"""Counts of events, records and model calls, and the activity of a project, as status, pages and reports show them.
Also the facts about a database on a server.
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
    """Counts of all records, of those with a vector, and of those set aside."""

    total: int
    embedded: int
    set_aside: int


@attrs.frozen
class ProjectInfo:
    """One project, as the lists show it."""

    namespace: Namespace
    project_id: str
    display_name: str
    """The name that a person gave; else its folder, or its id."""
    event_count: int
    memory_count: int
    last_event_at: datetime | None
    folder: str | None = None
    """The whole path, if it is known."""
    name: str | None = None
    """The name that a person gave."""
    waiting_count: int = 0
    """How many events are not learned yet."""


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
    """A call of a model that has begun."""

    day: date
    namespace: Namespace
    started_at: float
    """In seconds, on the clock of the event loop."""


@attrs.frozen(kw_only=True)
class LlmUsage:
    """The calls of models by one project on one day (UTC). The extractive learner does not count."""

    day: date
    namespace: Namespace
    call_count: int
    """All calls, answered or not."""
    failure_count: int
    characters_in: int
    """Characters of prompts."""
    characters_out: int
    """Characters of answers."""
    seconds: float

    def __add__(self, other: LlmUsage) -> LlmUsage:
        """The sum with another usage of the same day and project."""
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
    """What happened on one day (UTC)."""

    learned: int = 0
    """Records that were made that day and still exist."""
    told: int = 0
    """Records that sessions were told, counted on the day of the prompt; only for remembered sessions."""
    prompts: int = 0
    sessions: int = 0
    calls: int = 0
    """Calls of models."""
    failures: int = 0


@attrs.frozen(kw_only=True)
class Days:
    """What happened day by day, and the totals, in one project or in all."""

    days: dict[date, Day]
    """The days on which anything happened."""
    memory_count: int
    session_counts: dict[Namespace, int]
    feedback: FeedbackCounts
    """The feedback on all told records that still exist."""


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
    """A session in a list: its opening, and how much was learned from it."""

    session: Session
    opening: Event | None
    """Its first prompt; its first event if it has no prompt; None if that cannot be read."""
    memory_count: int
    """How many memories cite one of its events."""


@attrs.frozen
class NamedRecord:
    """A memory's id and title."""

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
    """When it sent its last prompt; None if it never did."""


@attrs.frozen(kw_only=True)
class Activity:
    """Counts of a project's records."""

    observations: int
    """All records, both captured directly and learned."""
    since: int
    """Records made since the time that was asked about."""
    captured: int
    """Records captured directly."""
    knowledge: int
    stale: int
    """Records that cite files known to have changed."""
    types: dict[str, int]
    """By ``MemoryRecord.type_name``, the most frequent first."""
    days: dict[date, int]
    """Records made on each day (UTC) since that time, oldest first; days without any are left out."""


@attrs.frozen(kw_only=True)
class TokenEconomics:
    """The size of what agents were told from memory, compared with its sources; of the sessions that are remembered."""

    tellings: int
    """How often a record was told to a session."""
    told_bytes: int
    """Bytes of titles, summaries and facts, counted for each telling."""
    replaced_bytes: int
    """Bytes of the events and captured texts that these records came from, counted for each telling."""

    @property
    def saved_bytes(self) -> int:
        """How many bytes fewer were told; negative if memories are longer than their sources."""
        return self.replaced_bytes - self.told_bytes

    @property
    def reduction_percent(self) -> float:
        """``saved_bytes`` in percent of ``replaced_bytes``, to one decimal; 0 if nothing was told."""
        return round(100 * self.saved_bytes / self.replaced_bytes, 1) if self.replaced_bytes else 0.0


@attrs.frozen(kw_only=True)
class ServerFacts:
    """Facts about one database on a server. If there is a problem, the other facts were seen before it."""

    name: str
    """The name for people: the database and its server's address, without user and password."""
    problem: str = ""
    """Why a daemon cannot use the database; empty if it can."""
    hint: str = ""
    """What to do about the problem."""
    server_version: str = ""
    schema_version: int = 0
    """0: there is no schema of ours yet; the first daemon makes one."""
    bytes: int = 0
    """Bytes of the tables with their indexes."""
    daemon_count: int = 0
    """How many daemons use it now."""
