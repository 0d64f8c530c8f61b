"""What is known of how a project is built and worked on: by its files, the commands that ran, and what people said."""

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
    """What a fact of a profile is about, in the order in which it is told."""

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
    """How often a command ran, in the events that were looked at."""

    succeeded: int
    failed: int
    last_at: datetime
    """UTC."""
    last_event: EventId


@attrs.frozen(kw_only=True)
class ProfileFact:
    """One thing that a file, a command that ran or a person says of the project; it holds as long as that says so."""

    slot: Slot
    value: str
    path: str = ""
    """The file that says it, relative to the project; empty: only the commands that ran do."""
    line: int = 0
    """Its number in the file, from 1; 0: the file says it by being there."""
    is_usual: bool = False
    """The usual command of a tool that the file names."""
    runs: Runs | None = None
    """Of a command: None if it did not run."""
    said_at: datetime | None = None
    """When a person said it; None: nobody did. UTC."""
    until: datetime | None = None
    """When it ended; None: it holds. UTC."""

    @property
    def source(self) -> str:
        """Where it is from: ``package.json:7``, the day on which a person said it, or the event of a command."""
        if self.said_at is not None:
            return f"said {self.said_at:%Y-%m-%d}"
        if not self.path:
            return f"event {self.runs.last_event}" if self.runs else ""
        return f"{self.path}:{self.line}" if self.line else self.path


@attrs.frozen
class ProjectProfile:
    """The facts of one project, those of a slot together, what counts most first; empty where no file says anything."""

    facts: tuple[ProfileFact, ...] = ()

    def of(self, slot: Slot) -> tuple[ProfileFact, ...]:
        """Those of one slot."""
        return tuple(fact for fact in self.facts if fact.slot is slot)

    def values(self, slot: Slot) -> tuple[str, ...]:
        """What those of one slot say."""
        return tuple(fact.value for fact in self.of(slot))

    @classmethod
    def ordered(cls, facts: Iterable[ProfileFact]) -> ProjectProfile:
        """``facts`` by their slots; within a slot they keep their order."""
        places = {slot: place for place, slot in enumerate(Slot)}
        return cls(tuple(sorted(facts, key=lambda fact: places[fact.slot])))


@attrs.frozen(kw_only=True)
class WantedFiles:
    """Which files of a project are looked at for its profile."""

    read: frozenset[str]
    """Paths of files whose text is read."""
    noticed: frozenset[str]
    """Paths of files that say enough by being there."""
    suffixes: tuple[str, ...]
    """Of files in the project's folder whose text is read."""
    listed: tuple[tuple[str, tuple[str, ...]], ...]
    """Folders, and the suffixes of files in them whose text is read."""
    below: frozenset[str]
    """Names of files that are also looked for in the folders just below; of these, the text is read."""
    below_noticed: frozenset[str] = frozenset()
    """The same, of files that say enough by being there."""


# What a person says of a project by hand, for its graph.


@attrs.frozen(kw_only=True)
class FactSaid:
    """A fact that a person adds."""

    predicate: str = attrs.field(validator=Worded(1, MAX_NAME))
    """One of those that the graph knows, as ``deployed_on``."""
    object: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    subject: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """What it is about; None: the project."""
    since: datetime | None = None
    """Since when it holds; None: since now at the latest."""


@attrs.frozen(kw_only=True)
class PreferenceSaid:
    """What a person wants to be done always, or never."""

    value: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    """In their own words."""
    category: PreferenceCategory = PreferenceCategory.WORKFLOW
    key: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """What it is about: another one of the same category and key takes its place; None: its first words."""


@attrs.frozen(kw_only=True)
class ProcedureSaid:
    """How a person says that something is done: a new version of the procedure of that name."""

    name: str = attrs.field(validator=Worded(1, MAX_NAME))
    steps: tuple[str, ...] = attrs.field(validator=Each(1, MAX_STEPS, Worded(1, MAX_OBJECT)))
    trigger: str = attrs.field(default="", validator=length(0, MAX_OBJECT))
    """When to use it."""


Said: TypeAlias = FactSaid | PreferenceSaid | ProcedureSaid
