"""Copies of the store, and which of them are kept."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import attrs


class CopyKind(enum.Enum):
    """Why a copy of the store was made."""

    DAILY = "daily"
    """Made by the daemon, once a day."""
    ASKED = "asked"
    """Made by ``kiro-learn backup now``."""
    UPGRADE = "upgrade"
    """Made before an upgrade; it may have an earlier schema."""
    REPLACED = "replaced"
    """The store that a copy replaced."""
    DAMAGED = "damaged"
    """A store that was put aside because it was damaged."""
    OTHER = "other"
    """Made by somebody else."""


BOUNDED = (CopyKind.DAILY, CopyKind.ASKED)
"""Kinds of copies that are deleted for newer ones; all others stay until somebody removes them."""

RESTORABLE = (CopyKind.DAILY, CopyKind.ASKED, CopyKind.UPGRADE, CopyKind.OTHER)
"""Kinds of copies of which the newest may replace a lost store, unless another copy is named."""


@attrs.frozen(kw_only=True)
class BackupCopy:
    """One copy of the store."""

    path: Path
    kind: CopyKind
    made_at: datetime
    bytes: int

    @property
    def name(self) -> str:
        """The name for people: the file, or the folder in which the copy was put aside."""
        return self.path.parent.name if self.kind in {CopyKind.REPLACED, CopyKind.DAMAGED} else self.path.name


@attrs.frozen(kw_only=True)
class CopyContents:
    """What a copy holds, and whether it is sound."""

    event_count: int = 0
    memory_count: int = 0
    problem: str = ""
    """The first damage that was found, or why the copy cannot be read; empty if it is sound."""


def superfluous(copies: Iterable[BackupCopy], *, keep_count: int, most_bytes: int) -> tuple[BackupCopy, ...]:
    """The copies to delete for newer ones: of each bounded kind, all but the newest ``keep_count``. Of the rest, the
    oldest are deleted until all take at most ``most_bytes``. The newest of all stays, however large.

    ``copies``: newest first.
    """
    bounded = [each for each in copies if each.kind in BOUNDED]
    kept: list[BackupCopy] = []
    for copy in bounded:
        is_too_many = sum(each.kind is copy.kind for each in kept) >= keep_count
        is_too_much = bool(kept) and sum(each.bytes for each in kept) + copy.bytes > most_bytes
        if not is_too_many and not is_too_much:
            kept.append(copy)
    return tuple(copy for copy in bounded if copy not in kept)


def newest_restorable(copies: Iterable[BackupCopy]) -> BackupCopy | None:
    """The newest of ``copies``, newest first, that may take the place of a lost store; None if there is none."""
    return next((each for each in copies if each.kind in RESTORABLE), None)


@attrs.frozen(kw_only=True)
class NewerThanCopy:
    """How much the store holds that a copy of it lacks."""

    event_count: int = 0
    memory_count: int = 0
    problem: str = ""
    """Why the two could not be compared; empty if they could."""


@attrs.frozen
class SavedRows:
    """How many rows of a damaged store could be read, and how many are known to be lost."""

    count: int = 0
    lost: int = 0

    def __add__(self, other: SavedRows) -> SavedRows:
        return SavedRows(self.count + other.count, self.lost + other.lost)


@attrs.frozen(kw_only=True)
class Salvaged:
    """The rows that were saved from a damaged store."""

    memories: SavedRows
    events: SavedRows
    others: SavedRows
    """All other rows: waiting events, replaced records, the graph."""
    from_copy_count: int = 0
    """How many of the memories and events were taken from a copy."""
    unreadable_page_count: int
    """How many pages cannot be read at all; their rows are lost, whether or not they are counted."""


# The progress of an upgrade of a database.


class UpgradeStage(enum.StrEnum):
    """The stages of an upgrade, in order."""

    BACKUP = "backup"
    CHECK = "check"
    MIGRATION = "migration"
    COMMIT = "commit"


@attrs.frozen
class UpgradeProgress:
    """How much of a stage of an upgrade is done."""

    stage: UpgradeStage
    done: int
    total: int
    """Pages of a backup, tables of a check, steps of a migration; a commit is one piece."""
