"""The items of the graph memory: entities, relationships, facts, procedures and preferences.

Each item belongs to one namespace. Times are aware and in UTC. An item is never changed in place: a changed one is put
again under its id. Its sources are stored apart (``Evidence``), so that one of them can be forgotten.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NewType, TypeAlias

import attrs

from kiro_learn.model.checks import Each, between, length, matching, optional
from kiro_learn.model.event import NAMESPACE
from kiro_learn.model.ids import ULID_PATTERN, EventId
from kiro_learn.model.namespace import Namespace

GraphItemId = NewType("GraphItemId", str)
"""Two letters for the kind, ``_`` and a ULID, as ``fa_01JH…``."""

MAX_NAME = 200
MAX_OBJECT = 500
MAX_DESCRIPTION = 1_000
MAX_ALIASES = 20
MAX_STEPS = 20


class GraphKind(enum.StrEnum):
    """Which of the five kinds an item is; the value begins its id."""

    ENTITY = "en"
    RELATIONSHIP = "rl"
    FACT = "fa"
    PROCEDURE = "pr"
    PREFERENCE = "pf"

    @property
    def id_prefix(self) -> str:
        return f"{self.value}_"


class EntityType(enum.StrEnum):
    """The type of an entity."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PROJECT = "project"
    CONCEPT = "concept"
    LOCATION = "location"
    TOOL = "tool"
    EVENT = "event"
    OTHER = "other"


class SourceType(enum.StrEnum):
    """The source of a fact or a preference; each one outranks those above it."""

    INFERRED = "inferred"
    OBSERVED = "observed"
    STATED = "stated"
    CORRECTED = "corrected"

    @property
    def rank(self) -> int:
        """1 (inferred) to 4 (corrected)."""
        return tuple(SourceType).index(self) + 1


class PreferenceCategory(enum.StrEnum):
    """The subject of a preference."""

    COMMUNICATION = "communication"
    FORMATTING = "formatting"
    WORKFLOW = "workflow"
    TOOLS = "tools"
    SCHEDULING = "scheduling"
    OTHER = "other"


class Outcome(enum.StrEnum):
    """How the last use of a procedure ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"
    PENDING = "pending"


def kind_of(item_id: str) -> GraphKind | None:
    """The kind that an id names; None: not the id of a graph item."""
    prefix, _, ulid = item_id.partition("_")
    if prefix not in set(GraphKind) or ULID_PATTERN.fullmatch(ulid) is None:
        return None
    return GraphKind(prefix)


_ARTICLE = re.compile(r"\A(?:the|an?|our|my|your)\s+(?=\S)")
_AROUND = " \t.\"'`\u201c\u201d\u2018\u2019"


def bare(text: str) -> str:
    """A name or an object to be compared: without case, extra spaces, a leading article, and quotes and stops around
    it.
    """
    return _ARTICLE.sub("", " ".join(text.casefold().strip(_AROUND).split()), count=1)


_ID = matching(re.compile(f"(?:{'|'.join(GraphKind)})_{ULID_PATTERN.pattern}"), "an id of a graph item, as fa_01JH…")
_CONFIDENCE = between(0, 1)
_IMPORTANCE = between(1, 10)


@attrs.frozen(kw_only=True)
class Entity:
    """A thing that is talked about. A namespace has one entity of each name (case-folded) and type."""

    item_id: GraphItemId = attrs.field(validator=_ID)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    name: str = attrs.field(validator=length(1, MAX_NAME))
    type: EntityType
    description: str = attrs.field(default="", validator=length(0, MAX_DESCRIPTION))
    aliases: tuple[str, ...] = attrs.field(default=(), validator=Each(0, MAX_ALIASES, length(1, MAX_NAME)))
    importance: int = attrs.field(default=5, validator=_IMPORTANCE)
    mention_count: int = 1
    """How many events mention it."""
    first_seen: datetime
    last_referenced: datetime
    """The time of the last event that mentions it."""


@attrs.frozen(kw_only=True)
class Validity:
    """When something was true, and when we knew it.

    True from ``valid_from`` (None: from when it was first said) to before ``valid_until`` (None: still is). Known from
    ``observed_at`` to before ``retired_at`` (None: still is): a correction retires what was never true.
    """

    valid_from: datetime | None = None
    valid_until: datetime | None = None
    observed_at: datetime
    retired_at: datetime | None = None

    @property
    def is_current(self) -> bool:
        """Whether neither its truth nor our knowledge of it has ended."""
        return self.valid_until is None and self.retired_at is None

    def holds(self, at: datetime, *, known_at: datetime | None = None) -> bool:
        """Whether it was true at ``at``, by today's knowledge, or by the knowledge at ``known_at``."""
        if known_at is None:
            known = self.retired_at is None
        else:
            known = self.observed_at <= known_at and (self.retired_at is None or self.retired_at > known_at)
        begun = (self.valid_from or self.observed_at) <= at
        return known and begun and (self.valid_until is None or self.valid_until > at)


@attrs.frozen(kw_only=True)
class Relationship:
    """An edge from one entity to another."""

    item_id: GraphItemId = attrs.field(validator=_ID)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    source_id: GraphItemId = attrs.field(validator=_ID)
    target_id: GraphItemId = attrs.field(validator=_ID)
    type: str = attrs.field(validator=length(1, MAX_NAME))
    """A predicate, as ``deployed_on``."""
    confidence: float = attrs.field(default=1.0, validator=_CONFIDENCE)
    validity: Validity


@attrs.frozen(kw_only=True)
class Fact:
    """Subject, predicate, object; the subject is an entity."""

    item_id: GraphItemId = attrs.field(validator=_ID)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    entity_id: GraphItemId = attrs.field(validator=_ID)
    subject: str = attrs.field(validator=length(1, MAX_NAME))
    predicate: str = attrs.field(validator=length(1, MAX_NAME))
    """Words joined by underscores, as ``runs_on``."""
    object: str = attrs.field(validator=length(1, MAX_OBJECT))
    confidence: float = attrs.field(default=1.0, validator=_CONFIDENCE)
    """The confidence at the last confirmation; today's is computed when the fact is read."""
    source_type: SourceType = SourceType.INFERRED
    is_candidate: bool = False
    """Whether there is better evidence for a fact that contradicts this one; it is told only together with that
    fact."""
    superseded_by: GraphItemId | None = attrs.field(default=None, validator=optional(_ID))
    last_confirmed_at: datetime
    validity: Validity

    @property
    def is_current(self) -> bool:
        """Whether it holds now and is told."""
        return self.validity.is_current and not self.is_candidate

    @property
    def text(self) -> str:
        """The fact as a sentence, which is shown and embedded."""
        return f"{self.subject} {self.predicate.replace('_', ' ')} {self.object}"


@attrs.frozen(kw_only=True)
class Procedure:
    """How something is done, step by step. A changed one is a new version that supersedes the old one."""

    item_id: GraphItemId = attrs.field(validator=_ID)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    name: str = attrs.field(validator=length(1, MAX_NAME))
    trigger: str = attrs.field(default="", validator=length(0, MAX_OBJECT))
    """When to use it."""
    steps: tuple[str, ...] = attrs.field(validator=Each(1, MAX_STEPS, length(1, MAX_OBJECT)))
    confidence: float = attrs.field(default=0.5, validator=_CONFIDENCE)
    source_type: SourceType = SourceType.INFERRED
    success_count: int = 0
    failure_count: int = 0
    last_used: datetime | None = None
    last_outcome: Outcome | None = None
    version: int = 1
    superseded_by: GraphItemId | None = attrs.field(default=None, validator=optional(_ID))
    created_at: datetime

    @property
    def is_current(self) -> bool:
        """Whether no later version superseded it."""
        return self.superseded_by is None


@attrs.frozen(kw_only=True)
class Preference:
    """A person's wish, as category, key and value. One current value per category, key and path."""

    item_id: GraphItemId = attrs.field(validator=_ID)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    category: PreferenceCategory
    path: str = attrs.field(default="", validator=length(0, MAX_NAME))
    """The file or folder in the project to which it applies; empty: the whole project."""
    key: str = attrs.field(validator=length(1, MAX_NAME))
    value: str = attrs.field(validator=length(1, MAX_OBJECT))
    strength: float = attrs.field(default=0.5, validator=_CONFIDENCE)
    evidence_count: int = 1
    source_type: SourceType = SourceType.INFERRED
    superseded_by: GraphItemId | None = attrs.field(default=None, validator=optional(_ID))
    last_confirmed_at: datetime
    validity: Validity

    @property
    def is_current(self) -> bool:
        """Whether it holds now."""
        return self.validity.is_current


GraphItem: TypeAlias = Entity | Relationship | Fact | Procedure | Preference


def reworded_among(items: Sequence[GraphItem], before: Mapping[GraphItemId, GraphItem]) -> tuple[GraphItemId, ...]:
    """Items whose text for agents is not the one ``before``; a change of confidence alone does not count."""
    known = ((item, before.get(item.item_id)) for item in items)
    return tuple(item.item_id for item, old in known if old is not None and _told_of(old) != _told_of(item))


def _told_of(item: GraphItem) -> tuple[object, ...]:
    if isinstance(item, Entity):
        return (item.name, item.type, item.description)
    if isinstance(item, Fact):
        return (item.text, item.is_candidate, item.validity.valid_until, item.validity.retired_at)
    if isinstance(item, Procedure):
        return (item.name, item.steps)
    return (item.category, item.key, item.value) if isinstance(item, Preference) else (item.item_id,)


class Says(enum.StrEnum):
    """The statement of an event about an item."""

    HOLDS = "holds"
    ENDED = "ended"
    """The item held, and holds no longer."""
    NEVER = "never"
    """The item never held."""


@attrs.frozen
class Evidence:
    """The statement of one event about an item; one row per item and event.

    The state of a fact, a procedure or a preference follows from its rows, in whatever order they arrived.
    """

    item_id: GraphItemId
    event_id: EventId
    observed_at: datetime
    """When the event happened."""
    weight: float = 1.0
    """The confidence that this event alone gives."""
    says: Says = Says.HOLDS
    source_type: SourceType = SourceType.STATED
    place: int = 0
    """The number of the statement in its event, from 0."""
    valid_from: datetime | None = None
    """When it began to hold, as the event says."""
    valid_until: datetime | None = None
    """When it ended, as the event says."""


# The picture of the memory: memories, their subjects, and links between these.

MOST_NODES = 5_000
LINKS_A_NODE = 2
"""The most links in a picture, as a multiple of its most nodes."""


class NodeKind(enum.StrEnum):
    """What a node stands for; the values are those of the ``show`` parameter."""

    PROJECT = "projects"
    MEMORY = "memories"
    CONCEPT = "concepts"
    ENTITY = "entities"
    FILE = "files"


@attrs.frozen(kw_only=True)
class PictureAsked:
    """The request for a picture."""

    namespace: Namespace | None
    """None: all projects."""
    show: frozenset[NodeKind]
    limit: int
    """The most nodes, at least 4; also how many of the newest memories are read."""


@attrs.frozen(kw_only=True)
class PictureNode:
    """A node of the picture."""

    id: str
    """The id of a memory or an entity, the namespace of a project, or ``concept:NAME`` or ``file:PATH``."""
    kind: NodeKind
    label: str
    type: str | None = None
    """The type of a memory, as in lists, or of an entity."""
    namespace: Namespace | None = None
    """The namespace, for a node that belongs to one project."""
    at: datetime | None = None
    """When a memory was made, or an entity last mentioned."""


@attrs.frozen(kw_only=True)
class PictureLink:
    """A link between two nodes, each given by its index in ``nodes``."""

    source: int
    target: int
    says: str | None = None
    """The predicate between two entities; None: the link is made by a memory, or one end is a memory."""
    count: int = 1
    """How many memories make the link."""


@attrs.frozen(kw_only=True)
class GraphPicture:
    """Nodes and links, and for each kind how many nodes did not fit."""

    nodes: Sequence[PictureNode]
    links: Sequence[PictureLink]
    left_out: Mapping[str, int]
