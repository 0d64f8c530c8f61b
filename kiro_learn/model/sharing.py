"""What people share of their memories: which projects and kinds, and what a team's database says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import PROJECT_NAME
from kiro_learn.model.record import KnowledgeType, ObservationType

SHARED_STRATEGY = "team-shared"
"""The strategy of a record that somebody else, or another machine of the user, shared."""

DEFAULT_KINDS = tuple(sorted(KnowledgeType))
KINDS = frozenset((*KnowledgeType, *ObservationType))
NO_KINDS = ("none",)


@attrs.frozen
class SharedProject:
    """A project of which memories are shared."""

    name: str
    """That the team calls it by."""
    place: str
    """What names it on this machine: a folder, a name, an id or a namespace."""
    kinds: tuple[str, ...] = DEFAULT_KINDS
    """Types of the records that leave this machine (``MemoryRecord.type_name``); none: it only receives."""


def shared_projects(text: str) -> tuple[SharedProject, ...]:
    """The projects that the setting ``share.projects`` names.

    Parts are divided by commas, each ``NAME``, ``NAME=FOLDER`` or one of these with ``: KIND KIND`` behind it; ``:
    none`` shares nothing and receives what others share.

    Raises:
      ValueError: it is none of these, or names a project twice.
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
    """Whether a team can call a project so: the setting ``share.projects`` can say it."""
    return PROJECT_NAME.fullmatch(name) is not None and name == name.strip() and not set(name) & set(",:=")


@attrs.frozen(order=True)
class SharedKey:
    """What tells one shared memory from all others."""

    project: str
    owner: str
    """The role of who shared it."""
    home: str
    """The id of the home that it came from: a person may have several."""
    record_id: str
    """In that home."""
    shared_at: str
    """When; a memory that was taken back and is shared again is another one."""


@attrs.frozen
class SharedHead:
    """A shared memory without what it says."""

    key: SharedKey
    is_withheld: bool
    """Its owner took it back for good; nobody is told what it said."""


@attrs.frozen
class TeamView:
    """What one home sees of a team's database."""

    role: str = ""
    """Its user's, there."""
    home: str = ""
    admitted: frozenset[str] = frozenset()
    """Projects that the role may share into, and see."""
    heads: tuple[SharedHead, ...] = ()
    """Of the projects that were asked for, and whatever else the home shared; in order."""

    @property
    def foreign(self) -> tuple[SharedHead, ...]:
        """All but what this home shared."""
        return tuple(head for head in self.heads if not self._is_own(head))

    def own(self, project: str) -> dict[str, SharedHead]:
        """What this home shared of ``project``, by its ids of records."""
        return {head.key.record_id: head for head in self.heads if head.key.project == project and self._is_own(head)}

    @property
    def withheld(self) -> frozenset[str]:
        """Records of this home that stay there, whatever project they are of."""
        return frozenset(head.key.record_id for head in self.heads if head.is_withheld and self._is_own(head))

    def others(self, project: str) -> list[SharedKey]:
        """What other people, and other homes of the user, share of it."""
        return [head.key for head in self.foreign if head.key.project == project and not head.is_withheld]

    def _is_own(self, head: SharedHead) -> bool:
        return (head.key.owner, head.key.home) == (self.role, self.home)


SharedTexts: TypeAlias = Mapping[RecordId, str]
"""Memories as JSON, by their ids in the home that shares them."""
