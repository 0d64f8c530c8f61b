"""Captures, which a client hands in and which are kept without a learner: an observation, or an item of knowledge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import attrs

from kiro_learn.model.checks import Worded, can_be_seen, length, optional, unchecked
from kiro_learn.model.ids import RECORD_PREFIX, EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import (
    CONCEPTS,
    DETAIL,
    DETAILS,
    FILES,
    MAX_CAPTURE_TYPE,
    MAX_FACTS,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    Confidence,
    KnowledgeType,
    MemoryRecord,
    ObservationType,
    Origin,
    RecordDetails,
    Severity,
)

MAX_PROJECT = 4096
MAX_SESSION = 128

MANUAL = "manual"
"""The type of an observation whose client names none."""

_SESSION = optional(length(1, MAX_SESSION))


@attrs.frozen(kw_only=True)
class Observation:
    """An action or a finding, in the words of its reporter."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    title: str = attrs.field(validator=Worded(1, MAX_TITLE))
    type: str = attrs.field(default=MANUAL, validator=length(1, MAX_CAPTURE_TYPE))
    """``file-read``, ``file-write``, ``command``, ``research``, or any other word."""
    text: str = attrs.field(default="", validator=length(0, MAX_TEXT))
    """Technical content, such as a tool's input and output."""
    narrative: str = attrs.field(default="", validator=length(0, MAX_SUMMARY))
    """A text for people; if there is none, the beginning of ``text`` is used."""
    concepts: tuple[str, ...] = attrs.field(default=(), validator=CONCEPTS)
    files_read: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    files_modified: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    session: str | None = attrs.field(default=None, validator=_SESSION)


@attrs.frozen(kw_only=True)
class KnowledgeItem:
    """A constraint, a decision, a heuristic or a rejected idea, with the metadata of its type."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    knowledge_type: KnowledgeType
    title: str = attrs.field(validator=Worded(1, MAX_TITLE))
    content: str = attrs.field(validator=Worded(1, MAX_TEXT))
    concepts: tuple[str, ...] = attrs.field(default=(), validator=CONCEPTS)
    files: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    severity: Severity | None = None
    """How strict a constraint is; ``soft`` if it names none. Only constraints have one."""
    reason: str | None = attrs.field(default=None, validator=DETAIL)
    """Why; for a constraint, a decision or a rejected idea."""
    alternatives: tuple[str, ...] = attrs.field(default=(), validator=DETAILS)
    """What else could have been chosen; for a decision or a rejected idea."""
    context: str | None = attrs.field(default=None, validator=DETAIL)
    """Where a heuristic applies. Only heuristics have one."""
    confidence: Confidence | None = None
    """How sure a heuristic is. Only heuristics have one."""
    session: str | None = attrs.field(default=None, validator=_SESSION)


@attrs.frozen(kw_only=True)
class Checkpoint:
    """The state of a session's work, so that another session can go on from there."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    session: str = attrs.field(validator=length(1, MAX_SESSION))
    task: str = attrs.field(validator=Worded(1, MAX_TITLE))
    progress: str = attrs.field(default="", validator=length(0, MAX_SUMMARY))
    next_steps: str | None = attrs.field(default=None, validator=DETAIL)
    open_questions: tuple[str, ...] = attrs.field(default=(), validator=DETAILS)
    relevant_files: tuple[str, ...] = attrs.field(default=(), validator=FILES)


# Turning a capture into the memory record that keeps it. No learner is asked.
#
# The record's summary and facts are made of longer texts and may exceed a record's bounds. The scrubber cuts them; an
# earlier cut could separate a secret from the words that show that it is one.
#
# Recognising a capture that repeats another one, so that it is not kept again.
#
# The same file is read again and again, and several hooks report one change. An observation repeats another one if
# their content hashes are equal and it comes within the window of its type. Knowledge and checkpoints are handed in on
# purpose, so they repeat another one only if they do not differ at all.

STRATEGY = "direct"
"""The strategy of a record that no learner made, so that no learner makes it again."""

CHECKPOINT = "checkpoint"
"""The capture type of a checkpoint."""

_TOOL_TYPES = frozenset({"file-read", "file-write", "command", "delegation", "tool-use"})

_CAPTURED_DETAILS = {
    KnowledgeType.CONSTRAINT: ("severity", "reason"),
    KnowledgeType.DECISION: ("alternatives", "reason"),
    KnowledgeType.HEURISTIC: ("context", "confidence"),
    KnowledgeType.REJECTED: ("reason", "alternatives"),
}
"""The metadata that belong to an item of each type."""

_ALL_DETAILS = tuple(dict.fromkeys(name for names in _CAPTURED_DETAILS.values() for name in names))


@attrs.frozen(kw_only=True)
class CaptureStamp:
    """The fields of a record that are not handed in."""

    record_id: RecordId
    event_id: EventId
    namespace: Namespace
    at: datetime

    @classmethod
    def of(cls, ulids: Iterable[str], namespace: Namespace, at: datetime) -> CaptureStamp:
        """``ulids``: two that were never used before."""
        record_ulid, event_ulid = ulids
        return cls(
            record_id=RecordId(RECORD_PREFIX + record_ulid), event_id=EventId(event_ulid), namespace=namespace, at=at
        )

    def record(self, **values: Any) -> MemoryRecord:
        return unchecked(
            MemoryRecord,
            record_id=self.record_id,
            namespace=self.namespace,
            strategy=STRATEGY,
            source_event_ids=(self.event_id,),
            created_at=self.at,
            origin=Origin.API,
            **values,
        )


def record_of_observation(observation: Observation, capture: CaptureStamp) -> MemoryRecord:
    return capture.record(
        title=observation.title,
        summary=_summary(observation.narrative, observation.text, observation.title),
        text=observation.text,
        concepts=observation.concepts,
        files_read=observation.files_read,
        files_modified=observation.files_modified,
        observation_type=observation_type_of(observation.type),
        capture_type=observation.type,
    )


def metadata_of_others(item: KnowledgeItem) -> list[tuple[str, str]]:
    """Metadata that do not belong to the item's type: the JSON path of each, and what was expected there."""
    own = _CAPTURED_DETAILS[item.knowledge_type]
    expected = f"expected nothing: a {item.knowledge_type} has {' and '.join(own)}"
    return [(f"$.{name}", expected) for name in _ALL_DETAILS if name not in own and getattr(item, name)]


def record_of_knowledge(item: KnowledgeItem, capture: CaptureStamp) -> MemoryRecord:
    """The record of an item that has no metadata of other types."""
    values = {name: getattr(item, name) for name in _CAPTURED_DETAILS[item.knowledge_type]}
    if item.knowledge_type is KnowledgeType.CONSTRAINT and item.severity is None:
        values["severity"] = "soft"
    details = RecordDetails(**values)
    is_pattern = item.knowledge_type is KnowledgeType.HEURISTIC
    return capture.record(
        title=item.title,
        summary=_summary("", item.content, item.title),
        text=item.content,
        facts=_facts(details),
        concepts=item.concepts,
        files_read=item.files,
        observation_type=ObservationType.PATTERN if is_pattern else ObservationType.DECISION,
        knowledge_type=item.knowledge_type,
        capture_type=item.knowledge_type.value,
        details=details,
    )


def record_of_checkpoint(checkpoint: Checkpoint, capture: CaptureStamp) -> MemoryRecord:
    details = RecordDetails(next_steps=checkpoint.next_steps, open_questions=checkpoint.open_questions)
    return capture.record(
        title=checkpoint.task,
        summary=_summary(checkpoint.progress, "", checkpoint.task),
        facts=_facts(details),
        files_touched=checkpoint.relevant_files,
        observation_type=ObservationType.SESSION_SUMMARY,
        capture_type=CHECKPOINT,
        details=details,
    )


def _summary(narrative: str, text: str, title: str) -> str:
    """The first of these texts in which something can be seen, in the part that is kept."""
    return next(each for each in (narrative, text, title) if can_be_seen(each[:MAX_SUMMARY]) or each == title)


def _facts(details: RecordDetails) -> tuple[str, ...]:
    return details.facts()[:MAX_FACTS]


def observation_type_of(capture_type: str) -> ObservationType:
    if capture_type in set(ObservationType):
        return ObservationType(capture_type)
    return ObservationType.TOOL_USE if capture_type in _TOOL_TYPES else ObservationType.DISCOVERY


WINDOW_SECONDS = {"file-read": 60, "file-write": 10, "command": 30, "research": 120}
"""The window by type of observation, as in the search guide of kiro-memory."""

OTHER_WINDOW_SECONDS = 30

MOST_ALIKE = 20
"""The most captures of one content hash within one window that are compared, the newest ones: it limits the writer's
work."""

_COMPARED = (
    *("text", "concepts", "files_touched", "files_read", "files_modified"),
    *("observation_type", "knowledge_type", "details"),
)
"""The handed-in fields in which two records of one content hash may differ."""


@attrs.frozen
class CapturedRecord:
    """A record that was captured directly, and the session it came from."""

    record: MemoryRecord
    session: str | None
    """None: its client named no session."""

    def differs_from(self, other: CapturedRecord) -> tuple[str, ...]:
        """The names of the fields in which two captures of one content hash differ."""
        own, others = self.record, other.record
        names = tuple(name for name in _COMPARED if getattr(own, name) != getattr(others, name))
        return names if self.session == other.session else (*names, "session")

    def repeated(self, alike: Sequence[CapturedRecord]) -> CapturedRecord | None:
        """The capture that this one repeats, among those with its content hash within its window (``alike``): one that
        does not differ at all; for an observation, else the first.
        """
        same = next((each for each in alike if not self.differs_from(each)), None)
        is_observation = self.record.details is None
        return alike[0] if same is None and is_observation and alike else same


def content_hash(record: MemoryRecord) -> str | None:
    """SHA-256 of ``project|type|title|narrative`` in hexadecimal; None for a record that was not captured directly.

    A ``|`` within a part is escaped, so that different observations never hash the same text.
    """
    if record.capture_type is None:
        return None
    parts = (record.namespace, record.capture_type, record.title, record.summary)
    text = "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def window_of(capture_type: str) -> timedelta:
    return timedelta(seconds=WINDOW_SECONDS.get(capture_type, OTHER_WINDOW_SECONDS))


def window_around(capture_type: str, now: datetime) -> tuple[datetime, datetime]:
    """The times, both exclusive, between which another observation makes one of ``now`` a repeat.

    The window reaches to both sides: after the clock was set back, observations stored just before lie in the future. A
    clock that was set back by more than the window does not keep new observations out.
    """
    window = window_of(capture_type)
    return now - window, now + window
