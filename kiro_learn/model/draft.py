"""A learner's proposals before they are checked and committed: memories, and drafts for the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from kiro_learn.model.graph import EntityType, PreferenceCategory, SourceType
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin


@attrs.frozen(kw_only=True)
class RecordDraft:
    """A memory as the learner worded it; every field is within the bounds of a record."""

    title: str
    summary: str
    observation_type: ObservationType
    source_event_ids: tuple[EventId, ...]
    cites: bool
    """False: the learner named no event of the batch, so ``source_event_ids`` holds all of them."""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    knowledge_type: KnowledgeType | None = None
    origin: Origin | None = None
    importance: int | None = None
    replaces: str = ""
    """The letters of shown memories that no longer hold, as the learner says."""


@attrs.frozen
class Source:
    """The event that a draft was made from."""

    event_id: EventId
    session_id: str
    said_at: datetime


@attrs.frozen(kw_only=True)
class EntityDraft:
    """An entity that an event mentions."""

    name: str
    type: EntityType
    description: str = ""
    aliases: tuple[str, ...] = ()
    source: Source


@attrs.frozen(kw_only=True)
class FactDraft:
    """A statement of an event about a subject."""

    subject: str
    subject_type: EntityType
    predicate: str
    """A name such as ``runs_on``."""
    object: str
    confidence: float
    source_type: SourceType
    valid_from: datetime | None = None
    """When it began, as the text says; None: the text does not say, so it began at ``source.said_at`` or before."""
    replaces: str | None = None
    """The object that this one replaces ("switched from X to Y"): the fact with X ends."""
    is_denied: bool = False
    """Whether the text says that this no longer holds, or never did: the stored fact is closed, and none is put."""
    was_never_true: bool = False
    """With ``is_denied`` or ``replaces``: the old fact was an error, so it is retired instead of ended."""
    source: Source


@attrs.frozen(kw_only=True)
class ProcedureDraft:
    """How something is done."""

    name: str
    trigger: str = ""
    steps: tuple[str, ...]
    confidence: float
    source_type: SourceType
    source: Source


@attrs.frozen(kw_only=True)
class PreferenceDraft:
    """A wish that a person states, or takes back."""

    category: PreferenceCategory
    key: str
    value: str
    strength: float
    source_type: SourceType
    is_denied: bool = False
    """Whether the person takes it back: the stored preference is closed."""
    path: str = ""
    """The file or folder in the project to which it applies; empty: the whole project."""
    source: Source


@attrs.frozen(kw_only=True)
class Retraction:
    """A prompt that takes back the one before it in its session ("Correction, that was the other repo")."""

    project: str
    """The project's name in the graph."""
    is_of_all: bool
    """Whether it takes back all of that prompt; False: only its last sentence."""
    source: Source


@attrs.frozen(kw_only=True)
class GraphDrafts:
    """All drafts for the graph from a batch, in the order in which they were said."""

    entities: Sequence[EntityDraft] = ()
    facts: Sequence[FactDraft] = ()
    procedures: Sequence[ProcedureDraft] = ()
    preferences: Sequence[PreferenceDraft] = ()
    retractions: Sequence[Retraction] = ()
    problem: str | None = None
    """Why a part of the batch could not be read."""

    def with_more(self, others: GraphDrafts) -> GraphDrafts:
        """These drafts, then the others."""
        return GraphDrafts(
            entities=[*self.entities, *others.entities],
            facts=[*self.facts, *others.facts],
            procedures=[*self.procedures, *others.procedures],
            preferences=[*self.preferences, *others.preferences],
            retractions=[*self.retractions, *others.retractions],
            problem=self.problem or others.problem,
        )

    @property
    def sources(self) -> list[Source]:
        """The source of each draft, kind by kind."""
        return [
            *(entity.source for entity in self.entities),
            *(fact.source for fact in self.facts),
            *(procedure.source for procedure in self.procedures),
            *(preference.source for preference in self.preferences),
            *(retraction.source for retraction in self.retractions),
        ]


NO_DRAFTS = GraphDrafts()
