"""What a person corrects or says by hand, as the drafts that a sentence of theirs would have given."""

from __future__ import annotations

from datetime import datetime

from kiro_learn.learning.graph.wish_keys import key_of
from kiro_learn.learning.graph.without_model import PERSON
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.draft import FactDraft, GraphDrafts, PreferenceDraft, ProcedureDraft, Source
from kiro_learn.model.graph import MAX_NAME, EntityType, Fact, GraphItem, Preference, Procedure, SourceType
from kiro_learn.model.ids import EventId
from kiro_learn.model.profile import PreferenceSaid, ProcedureSaid, Said

BY_HAND = "edited"
"""The session id of what is said by hand: it is said outside of any session."""
SURE = 1.0


def drafts_of_correction(
    item: GraphItem, correction: GraphCorrection, *, subject_type: EntityType, event_id: EventId, at: datetime
) -> GraphDrafts:
    """What is said by it; nothing of what has no such field.

    Args:
      subject_type: of the entity that a fact is about.
      event_id: of this correction; no event has it.
    """
    source = Source(event_id=event_id, session_id=BY_HAND, said_at=at)
    if isinstance(item, Fact) and correction.object is not None:
        is_respelled = folded(correction.object) == folded(item.object)
        fact = FactDraft(
            subject=item.subject,
            subject_type=subject_type,
            predicate=item.predicate,
            object=correction.object,
            confidence=SURE,
            source_type=SourceType.CORRECTED,
            replaces=None if is_respelled else item.object,
            was_never_true=not is_respelled,
            source=source,
        )
        return GraphDrafts(facts=[fact])
    if isinstance(item, Preference) and correction.value is not None:
        preference = PreferenceDraft(
            category=item.category,
            key=item.key,
            path=item.path,
            value=correction.value,
            strength=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(preferences=[preference])
    if isinstance(item, Procedure) and correction.steps is not None:
        procedure = ProcedureDraft(
            name=item.name,
            trigger=item.trigger,
            steps=correction.steps,
            confidence=item.confidence,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(procedures=[procedure])
    return GraphDrafts()


def drafts_of_statement(said: Said, *, project: str, path: str = "", event_id: EventId, at: datetime) -> GraphDrafts:
    """What is added by it.

    Args:
      project: what the project is called in its graph: the subject of a fact that names none.
      path: of what it is said, if not of the whole project: then that is the subject.
      event_id: of this statement; no event has it.
    """
    source = Source(event_id=event_id, session_id=BY_HAND, said_at=at)
    if isinstance(said, PreferenceSaid):
        preference = PreferenceDraft(
            category=said.category,
            key=said.key or key_of(said.value) or folded(said.value)[:MAX_NAME],
            value=said.value,
            path=path,
            strength=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(preferences=[preference])
    if isinstance(said, ProcedureSaid):
        procedure = ProcedureDraft(
            name=said.name,
            trigger=said.trigger,
            steps=said.steps,
            confidence=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(procedures=[procedure])
    fact = FactDraft(
        subject=path or said.subject or project,
        subject_type=_type_of(path or said.subject),
        predicate=said.predicate,
        object=said.object,
        confidence=SURE,
        source_type=SourceType.CORRECTED,
        valid_from=said.since,
        source=source,
    )
    return GraphDrafts(facts=[fact])


def _type_of(subject: str | None) -> EntityType:
    if subject is None:
        return EntityType.PROJECT
    return EntityType.PERSON if subject == PERSON else EntityType.OTHER
