"""What a session that is resumed is told: what was laid down or decided elsewhere since it was seen last.

Its context still holds the brief of its start. What it cannot know is a rule that was changed in between, and it would
break that first.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.events import SessionReads
from kiro_learn.retrieval.rendering.brief import Brief, BriefPart, render_brief

MOST_BYTES = 800
"""Of what is told: a few lines, beside a brief that was told before."""


async def since_seen(storage: SessionReads, event: Event, parts: Sequence[BriefPart]) -> Brief:
    """The knowledge in ``parts``, those of a whole brief, that is newer than the last event of ``event``'s session and
    was not learned from it; empty if there is none.

    Raises:
      StorageError: events cannot be read.
    """
    session = (await storage.list_session_events(event.namespace, event.session_id, limit=1, after=None)).session
    if session is None:
        return Brief()
    newer = [
        record
        for part in parts
        for record in part.records
        if record.knowledge_type is not None and record.created_at > session.last_event_at
    ]
    told = {record.record_id for record in newer} - await _of_session(storage, event.session_id, newer)
    return render_brief(
        [
            attrs.evolve(part, records=[each for each in part.records if each.record_id in told], stated=())
            for part in parts
        ],
        most_bytes=MOST_BYTES,
    )


async def _of_session(storage: SessionReads, session_id: str, records: Sequence[MemoryRecord]) -> set[RecordId]:
    """The ids of those that were learned from the session itself: it knows them."""
    sources = {event_id for record in records for event_id in record.source_event_ids}
    events = await storage.get_events(sources) if sources else []
    own = {event.event_id for event in events if event.session_id == session_id}
    return {record.record_id for record in records if not own.isdisjoint(record.source_event_ids)}
