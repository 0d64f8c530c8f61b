"""A project's profile: how it is built and worked on, by its files, the commands that ran, and what people said."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional
from kiro_learn.model.graph import MAX_NAME, MAX_OBJECT, MAX_STEPS, PreferenceCategory
from kiro_learn.model.ids import EventId


class Slot(enum.StrEnum):
    """The subject of a fact of a profile, in the order in which facts are shown."""

    LANGUAGE = "language"
    FRAMEWORK = "framework"
    SERVICE = "service"
    MANAGER = "package manager"
    INSTALL = "install"
    ADD = "add a package"
    BUILD = "build"
    TEST = "test"
    LINT = "lint"
    FORMAT = "format"
    TYPES = "check types"
    RUN = "run"
    MIGRATE = "migrate"
    RELEASE = "release"
    DEPLOY = "deploy"
    PLATFORM = "deployed on"
    PORT = "port"
    BRANCH = "default branch"
    REMOTE = "remote"
    CI = "CI"
    IMAGE = "image"


COMMANDS = frozenset(
    {
        *(Slot.INSTALL, Slot.ADD, Slot.BUILD, Slot.TEST, Slot.LINT, Slot.FORMAT, Slot.TYPES),
        *(Slot.RUN, Slot.MIGRATE, Slot.RELEASE, Slot.DEPLOY),
    }
)
"""The slots whose facts are commands."""


@attrs.frozen
class Runs:
    """How often a command ran, in the events that were read."""

    succeeded: int
    failed: int
    last_at: datetime
    """When it ran last, in UTC."""
    last_event: EventId


@attrs.frozen(kw_only=True)
class ProfileFact:
    """A statement about the project by one of its files, a command that ran, or a person; it holds while that source
    does.
    """

    slot: Slot
    value: str
    path: str = ""
    """The file that states it, relative to the project; empty: only commands that ran show it."""
    line: int = 0
    """The line in the file, from 1; 0: the file states it by existing."""
    is_usual: bool = False
    """Whether it is the usual command of a tool that the file names."""
    runs: Runs | None = None
    """How often a command ran; None if it did not run."""
    said_at: datetime | None = None
    """When a person said it, in UTC; None: nobody did."""
    until: datetime | None = None
    """When it ended, in UTC; None: it holds."""

    @property
    def source(self) -> str:
        """Its source: ``package.json:7``, the day on which a person said it, or the event of a command."""
        if self.said_at is not None:
            return f"said {self.said_at:%Y-%m-%d}"
        if not self.path:
            return f"event {self.runs.last_event}" if self.runs else ""
        return f"{self.path}:{self.line}" if self.line else self.path


@attrs.frozen
class ProjectProfile:
    """The facts of one project, grouped by slot, the most important first; empty if no file states any."""

    facts: tuple[ProfileFact, ...] = ()

    def of(self, slot: Slot) -> tuple[ProfileFact, ...]:
        """The facts of one slot."""
        return tuple(fact for fact in self.facts if fact.slot is slot)

    def values(self, slot: Slot) -> tuple[str, ...]:
        """The values of the facts of one slot."""
        return tuple(fact.value for fact in self.of(slot))

    @classmethod
    def ordered(cls, facts: Iterable[ProfileFact]) -> ProjectProfile:
        """A profile of ``facts``, sorted by slot; within a slot they keep their order."""
        places = {slot: place for place, slot in enumerate(Slot)}
        return cls(tuple(sorted(facts, key=lambda fact: places[fact.slot])))


@attrs.frozen(kw_only=True)
class WantedFiles:
    """The files of a project that its profile is made of."""

    read: frozenset[str]
    """Paths of files whose text is read."""
    noticed: frozenset[str]
    """Paths of files whose existence is enough."""
    suffixes: tuple[str, ...]
    """Suffixes of files in the project's folder whose text is read."""
    listed: tuple[tuple[str, tuple[str, ...]], ...]
    """Folders, and the suffixes of files in them whose text is read."""
    below: frozenset[str]
    """Names of files whose text is read, also in the folders just below the project's."""
    below_noticed: frozenset[str] = frozenset()
    """Names of files whose existence in the folders just below is enough."""


# Statements about a project that a person adds to its graph by hand.


@attrs.frozen(kw_only=True)
class FactSaid:
    """A fact that a person adds."""

    predicate: str = attrs.field(validator=Worded(1, MAX_NAME))
    """A predicate that the graph knows, as ``deployed_on``."""
    object: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    subject: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """The subject; None: the project."""
    since: datetime | None = None
    """When it began to hold; None: now or earlier."""


@attrs.frozen(kw_only=True)
class PreferenceSaid:
    """A person's wish that something is always done, or never."""

    value: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    """The wish in the person's own words."""
    category: PreferenceCategory = PreferenceCategory.WORKFLOW
    key: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """The subject: a wish with the same category and key replaces this one. None: the first words of the value."""


@attrs.frozen(kw_only=True)
class ProcedureSaid:
    """How something is done, as a person says: a new version of the procedure of that name."""

    name: str = attrs.field(validator=Worded(1, MAX_NAME))
    steps: tuple[str, ...] = attrs.field(validator=Each(1, MAX_STEPS, Worded(1, MAX_OBJECT)))
    trigger: str = attrs.field(default="", validator=length(0, MAX_OBJECT))
    """When to use it."""


Said: TypeAlias = FactSaid | PreferenceSaid | ProcedureSaid
