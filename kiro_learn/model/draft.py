"""What a learner proposes, before it is checked and committed: memories, and by names what the graph is to hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from kiro_learn.model.graph import EntityType, PreferenceCategory, SourceType
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
    replaces: str = ""
    """Which of the memories that it was shown the learner says to hold no longer, by their letters."""


@attrs.frozen
class Source:
    """The event that says it."""

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
    """What an event says of a subject."""

    subject: str
    subject_type: EntityType
    predicate: str
    """As ``runs_on``."""
    object: str
    confidence: float
    source_type: SourceType
    valid_from: datetime | None = None
    """As the text says; None: it says nothing, so since ``source.said_at`` at the latest."""
    replaces: str | None = None
    """The object that it takes the place of ("switched from X to Y"): what held with X ends."""
    is_denied: bool = False
    """The text says that this no longer holds, or never did: close what holds, and put nothing."""
    was_never_true: bool = False
    """With ``is_denied`` or ``replaces``: the old one was an error, so it is retired instead of ended."""
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
    """What a person wants, or no longer wants."""

    category: PreferenceCategory
    key: str
    value: str
    strength: float
    source_type: SourceType
    is_denied: bool = False
    """The person takes it back: close what holds."""
    path: str = ""
    """Of the file or folder in the project for which it holds; empty: for all of it."""
    source: Source


@attrs.frozen(kw_only=True)
class Retraction:
    """A prompt takes back what the one before it in its session said ("Correction, that was the other repo")."""

    project: str
    """What its project is called in the graph."""
    is_of_all: bool
    """It takes back all of that prompt; False: its last sentence."""
    source: Source


@attrs.frozen(kw_only=True)
class GraphDrafts:
    """All that a batch says, in the order in which it was said."""

    entities: Sequence[EntityDraft] = ()
    facts: Sequence[FactDraft] = ()
    procedures: Sequence[ProcedureDraft] = ()
    preferences: Sequence[PreferenceDraft] = ()
    retractions: Sequence[Retraction] = ()
    problem: str | None = None
    """Why not all of it could be read."""

    def with_more(self, others: GraphDrafts) -> GraphDrafts:
        """These, then the others."""
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
        """Of each draft, kind by kind."""
        return [
            *(entity.source for entity in self.entities),
            *(fact.source for fact in self.facts),
            *(procedure.source for procedure in self.procedures),
            *(preference.source for preference in self.preferences),
            *(retraction.source for retraction in self.retractions),
        ]


NO_DRAFTS = GraphDrafts()
