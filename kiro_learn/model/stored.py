"""The pieces that a store keeps, as an export holds them and an empty home can restore them."""

from __future__ import annotations

import enum
import re
from datetime import datetime
from typing import Literal, TypeAlias

import attrs

from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.checks import matching, optional
from kiro_learn.model.correction import DIGEST_BYTES, ReplacementReason
from kiro_learn.model.event import NAMESPACE, Event
from kiro_learn.model.graph import Entity, Evidence, Fact, Preference, Procedure, Relationship
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import PROJECT_NAME, Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import ToldItem


@attrs.frozen(kw_only=True)
class StoredProject:
    """A project of which something was once stored."""

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    name: str | None = attrs.field(default=None, validator=optional(matching(PROJECT_NAME, "a name without slashes")))
    """The name that a person gave."""
    folder: str | None = None
    """The project's folder, noted if no event names it."""


@attrs.frozen(kw_only=True)
class StoredMerge:
    """One project is part of another; everything that comes for it is kept there."""

    source: Namespace = attrs.field(validator=NAMESPACE)
    target: Namespace = attrs.field(validator=NAMESPACE)


@attrs.frozen(kw_only=True)
class StoredPause:
    """A project, or one session in it, is paused: nothing is taken in, and it is told nothing."""

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    session_id: str | None = None
    since: datetime


@attrs.frozen(kw_only=True)
class StoredEvent:
    """An event, when it was stored, and whether it waits to be learned."""

    event: Event
    stored_at: datetime
    expired_at: datetime | None = None
    """When it lost its content by age."""
    expired_bytes: int | None = None
    """How many bytes its content had."""
    waits: Literal["waiting", "parked"] | None = None
    """Whether it waits, by itself or within a compaction; a compaction is not kept, since it can be made again."""


@attrs.frozen(kw_only=True)
class StoredMemory:
    """A live record with the notes on it; its vectors can be made again."""

    record: MemoryRecord
    distilled_at: datetime | None = None
    file_digests: dict[str, str] | None = None
    """The SHA-256 of files that the record cites, by path."""
    sessions: tuple[str, ...] = ()
    """The sessions of its events, for people who read the export; a store finds them by the events."""


@attrs.frozen(kw_only=True)
class StoredReplaced:
    """A record that was replaced, and its replacement; the replacement may have replaced others too."""

    replacement_id: str
    reason: ReplacementReason
    replaced_at: datetime
    replacing: tuple[RecordId, ...]
    memory: StoredMemory


@attrs.frozen(kw_only=True)
class StoredForgotten:
    """A note that a memory was forgotten, by one of its events and a digest of its words; or an event, without a
    digest.
    """

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    event_id: EventId
    digest: str = attrs.field(
        validator=matching(re.compile(rf"(?:[0-9a-f]{{{2 * DIGEST_BYTES}}})?"), "a digest in hexadecimal digits")
    )


Stored: TypeAlias = (
    StoredProject
    | StoredMerge
    | StoredPause
    | StoredEvent
    | StoredReplaced
    | StoredMemory
    | Entity
    | Relationship
    | Fact
    | Procedure
    | Preference
    | Evidence
    | ParkedCluster
    | ToldItem
    | StoredForgotten
)

KINDS: dict[str, type[Stored]] = {
    "project": StoredProject,
    "merged": StoredMerge,
    "paused": StoredPause,
    "event": StoredEvent,
    "replaced": StoredReplaced,
    "memory": StoredMemory,
    "entity": Entity,
    "relationship": Relationship,
    "fact": Fact,
    "procedure": Procedure,
    "preference": Preference,
    "evidence": Evidence,
    "parked": ParkedCluster,
    "told": ToldItem,
    "forgotten": StoredForgotten,
}
"""By name, in the order in which a store writes and reads them: each refers only to earlier ones."""


class Restored(enum.StrEnum):
    """What happened to a piece that was to be restored."""

    STORED = "stored"
    KNOWN = "known"
    """Its id is known here; the piece that is here stays unchanged."""
    FORGOTTEN = "forgotten"
    """The same memory or event was forgotten here, and stays so."""
