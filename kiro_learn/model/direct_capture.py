"""From what a client hands in to the memory record that keeps it. No learner is asked.

Its summary and its facts are made of longer texts and may be longer than a record's: whoever scrubs it cuts them,
since a cut before that could part a secret from what shows that it is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.details import RecordDetails
from kiro_learn.model.ids import RECORD_PREFIX, EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.model.record import (
    MAX_FACTS,
    MAX_SUMMARY,
    KnowledgeType,
    MemoryRecord,
    ObservationType,
    Origin,
)
from kiro_learn.model.unchecked import unchecked

STRATEGY = "direct"
"""Of a record that no learner made; so none makes it again."""

CHECKPOINT = "checkpoint"
"""The capture type of a checkpoint."""

_TOOL_TYPES = frozenset({"file-read", "file-write", "command", "delegation", "tool-use"})

_DETAILS = {
    KnowledgeType.CONSTRAINT: ("severity", "reason"),
    KnowledgeType.DECISION: ("alternatives", "reason"),
    KnowledgeType.HEURISTIC: ("context", "confidence"),
    KnowledgeType.REJECTED: ("reason", "alternatives"),
}
"""Which metadata belongs to an item of each type."""

_ALL_DETAILS = tuple(dict.fromkeys(name for names in _DETAILS.values() for name in names))


@attrs.frozen(kw_only=True)
class CaptureStamp:
    """What a record has beside what was handed in."""

    record_id: RecordId
    event_id: EventId
    namespace: Namespace
    at: datetime

    @classmethod
    def of(cls, ulids: Iterable[str], namespace: Namespace, at: datetime) -> CaptureStamp:
        """``ulids``: two that were never given before."""
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
        observation_type=_observation_type(observation.type),
        capture_type=observation.type,
    )


def record_of_knowledge(item: KnowledgeItem, capture: CaptureStamp) -> MemoryRecord:
    """Raises InvalidRequest: it has metadata that does not belong to its type."""
    own = _DETAILS[item.knowledge_type]
    unexpected = [name for name in _ALL_DETAILS if name not in own and getattr(item, name)]
    if unexpected:
        expected = f"expected nothing: a {item.knowledge_type} has {' and '.join(own)}"
        raise InvalidRequest([(f"$.{name}", expected) for name in unexpected])
    values = {name: getattr(item, name) for name in own}
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
    """The first of them that says something in the part that is kept of it."""
    return next(each for each in (narrative, text, title) if each[:MAX_SUMMARY].strip() or each == title)


def _facts(details: RecordDetails) -> tuple[str, ...]:
    return details.facts()[:MAX_FACTS]


def _observation_type(capture_type: str) -> ObservationType:
    if capture_type in set(ObservationType):
        return ObservationType(capture_type)
    return ObservationType.TOOL_USE if capture_type in _TOOL_TYPES else ObservationType.DISCOVERY
