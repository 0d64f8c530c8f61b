"""What a store keeps, piece by piece, as an export holds it and a home that is empty can take it back."""

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
    """A project of which something was stored once."""

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    name: str | None = attrs.field(default=None, validator=optional(matching(PROJECT_NAME, "a name without slashes")))
    """That a person gave it."""
    folder: str | None = None
    """Where it was merged into, if no event says where it lies."""


@attrs.frozen(kw_only=True)
class StoredMerge:
    """That one project is part of another; whatever comes to it is kept there."""

    source: Namespace = attrs.field(validator=NAMESPACE)
    target: Namespace = attrs.field(validator=NAMESPACE)


@attrs.frozen(kw_only=True)
class StoredPause:
    """That a project, or one session in it, is neither taken in nor told."""

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    session_id: str | None = None
    since: datetime


@attrs.frozen(kw_only=True)
class StoredEvent:
    """An event, when it was stored, and whether it is still to be learned from."""

    event: Event
    stored_at: datetime
    expired_at: datetime | None = None
    """When it lost its content by age."""
    expired_bytes: int | None = None
    """How many bytes that content had."""
    waits: Literal["waiting", "parked"] | None = None
    """By itself or within a compaction, which is not kept: it is made again."""


@attrs.frozen(kw_only=True)
class StoredMemory:
    """A live record with what is noted about it; its vectors can be made again."""

    record: MemoryRecord
    distilled_at: datetime | None = None
    file_digests: dict[str, str] | None = None
    """The SHA-256 of files that it cites, by path."""
    sessions: tuple[str, ...] = ()
    """In which its events happened, for whoever reads it; a store knows them by the events."""


@attrs.frozen(kw_only=True)
class StoredReplaced:
    """A record that was replaced, and the replacement that took it out; others may have gone with it."""

    replacement_id: str
    reason: ReplacementReason
    replaced_at: datetime
    replacing: tuple[RecordId, ...]
    memory: StoredMemory


@attrs.frozen(kw_only=True)
class StoredForgotten:
    """That a memory was forgotten, by one of its events and a digest of its words; or an event, without a digest."""

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
"""By name, in the order in which a store gives them and takes them: each refers only to what comes before it."""


class Restored(enum.StrEnum):
    """What became of a piece that was to be restored."""

    STORED = "stored"
    KNOWN = "known"
    """Its id is there; what is there stays as it is."""
    FORGOTTEN = "forgotten"
    """The same memory or event was forgotten here, and stays so."""
