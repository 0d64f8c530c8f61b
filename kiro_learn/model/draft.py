"""What a learner proposes, before it is checked and committed."""

from __future__ import annotations

import attrs

from kiro_learn.model.ids import EventId
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin


@attrs.frozen(kw_only=True)
class RecordDraft:
    """A memory as the learner worded it: every field is within the bounds of a record's."""

    title: str
    summary: str
    observation_type: ObservationType
    source_event_ids: tuple[EventId, ...]
    cites: bool
    """False: the learner named no event of the batch, so ``source_event_ids`` is all of it."""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    knowledge_type: KnowledgeType | None = None
    origin: Origin | None = None
    importance: int | None = None
