"""Makes a redacted record of a draft."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.checks import unchecked
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.privacy.scrub import scrub_record

LONG_AGO = timedelta(days=1)


def dated(cited: Collection[EventId], snapshot: BufferSnapshot, now: datetime) -> datetime:
    """The date of what is learned at ``now`` from these events: theirs, if they happened long ago.

    Else what is imported would pass for newer than what was said after it, and than changes of its files.
    """
    sources = frozenset(cited)
    moments = (entry.event.valid_time for entry in snapshot.entries if not sources.isdisjoint(entry.sources))
    newest = max(moments, default=now)
    return newest if newest < now - LONG_AGO else now


def record_of(
    draft: RecordDraft, record_id: RecordId, *, namespace: Namespace, strategy: str, created_at: datetime
) -> MemoryRecord:
    """The record of ``draft`` as it is stored.

    Unchecked, since it cites events as they are stored: in a database of the first kiro-learn, not all of their ids are
    such as are taken in today. The draft's texts were cut when they were worded.
    """
    return scrub_record(
        unchecked(
            MemoryRecord,
            record_id=record_id,
            namespace=namespace,
            strategy=strategy,
            title=draft.title,
            summary=draft.summary,
            facts=draft.facts,
            concepts=draft.concepts,
            files_touched=draft.files_touched,
            observation_type=draft.observation_type,
            source_event_ids=draft.source_event_ids,
            created_at=created_at,
            knowledge_type=draft.knowledge_type,
            importance=draft.importance,
            files_read=draft.files_read,
            files_modified=draft.files_modified,
            origin=draft.origin,
        )
    )
