"""What people share of their memories: which projects and kinds, and the contents of a team's database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import PROJECT_NAME
from kiro_learn.model.record import KnowledgeType, ObservationType

SHARED_STRATEGY = "team-shared"
"""The strategy of a record that another person, or another machine of the user, shared."""

DEFAULT_KINDS = tuple(sorted(KnowledgeType))
KINDS = frozenset((*KnowledgeType, *ObservationType))
NO_KINDS = ("none",)


@attrs.frozen
class SharedProject:
    """A project of which memories are shared."""

    name: str
    """The team's name for it."""
    place: str
    """Its name on this machine: a folder, a name, an id or a namespace."""
    kinds: tuple[str, ...] = DEFAULT_KINDS
    """Types of the records that leave this machine (``MemoryRecord.type_name``); empty: it only receives."""


def shared_projects(text: str) -> tuple[SharedProject, ...]:
    """The projects that the setting ``share.projects`` names.

    Parts are separated by commas. Each is ``NAME`` or ``NAME=FOLDER``, and may end with ``: KIND KIND``; ``: none``
    shares nothing and only receives.

    Raises:
      ValueError: it has another form, or names a project twice.
    """
    found = [_shared_project(part.strip()) for part in text.split(",") if part.strip()]
    if len({each.name for each in found}) < len(found):
        raise ValueError("names a project twice")
    return tuple(found)


def _shared_project(part: str) -> SharedProject:
    named, colon, kinds = part.partition(":")
    name, _, place = (each.strip() for each in named.partition("="))
    if not is_team_name(name):
        raise ValueError(f"expected a project's name, found {name!r}")
    if part in KINDS:
        raise ValueError(f"put a space between kinds, not a comma, before {part}")
    wanted = tuple(kinds.split())
    if colon and (not wanted or (wanted != NO_KINDS and not KINDS.issuperset(wanted))):
        raise ValueError(f"expected kinds of memories ({', '.join(sorted(KINDS))}) or none, found {kinds.strip()!r}")
    return SharedProject(name, place or name, () if wanted == NO_KINDS else wanted or DEFAULT_KINDS)


def is_team_name(name: str) -> bool:
    """Whether a team can use this name for a project, because the setting ``share.projects`` can hold it."""
    return PROJECT_NAME.fullmatch(name) is not None and name == name.strip() and not set(name) & set(",:=")


@attrs.frozen(order=True)
class SharedKey:
    """What tells one shared memory from all others."""

    project: str
    owner: str
    """The role of the person who shared it."""
    home: str
    """The id of the home that it came from, since a person may have several."""
    record_id: str
    """Its id in that home."""
    shared_at: str
    """When it was shared; a memory that is taken back and shared again is another one."""


@attrs.frozen
class SharedHead:
    """A shared memory without its text."""

    key: SharedKey
    is_withheld: bool
    """Whether its owner took it back for good; nobody is shown its text."""


@attrs.frozen
class TeamView:
    """What one home sees of a team's database."""

    role: str = ""
    """The role that this home connects as."""
    home: str = ""
    admitted: frozenset[str] = frozenset()
    """Projects that the role may share into, and see."""
    heads: tuple[SharedHead, ...] = ()
    """The heads of the projects that were asked for, and all others of this home; in order."""

    @property
    def foreign(self) -> tuple[SharedHead, ...]:
        """The heads of other homes."""
        return tuple(head for head in self.heads if not self._is_own(head))

    def own(self, project: str) -> dict[str, SharedHead]:
        """The heads of this home in ``project``, by record id."""
        return {head.key.record_id: head for head in self.heads if head.key.project == project and self._is_own(head)}

    @property
    def withheld(self) -> frozenset[str]:
        """Records of this home that must stay there, of any project."""
        return frozenset(head.key.record_id for head in self.heads if head.is_withheld and self._is_own(head))

    def others(self, project: str) -> list[SharedKey]:
        """The keys of memories in the project that other people, and other homes of the user, share."""
        return [head.key for head in self.foreign if head.key.project == project and not head.is_withheld]

    def _is_own(self, head: SharedHead) -> bool:
        return (head.key.owner, head.key.home) == (self.role, self.home)


SharedTexts: TypeAlias = Mapping[RecordId, str]
"""The texts of memories as JSON, by their ids in the home that shares them."""
