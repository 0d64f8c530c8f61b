"""Copies of the store, and which of them are kept."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import attrs


class CopyKind(enum.Enum):
    """Why a copy of the store was made."""

    DAILY = "daily"
    """By the daemon, once a day."""
    ASKED = "asked"
    """By ``kiro-learn backup now``."""
    UPGRADE = "upgrade"
    """Before an upgrade; it may have an earlier schema."""
    REPLACED = "replaced"
    """What a copy took the place of."""
    DAMAGED = "damaged"
    """What was put aside since it was damaged."""
    OTHER = "other"
    """By somebody else."""


BOUNDED = (CopyKind.DAILY, CopyKind.ASKED)
"""Those that make room for newer ones; all others stay until somebody removes them."""

RESTORABLE = (CopyKind.DAILY, CopyKind.ASKED, CopyKind.UPGRADE, CopyKind.OTHER)
"""Those of which the newest takes the place of a lost store, unless another one is named."""


@attrs.frozen(kw_only=True)
class BackupCopy:
    """One copy of the store."""

    path: Path
    kind: CopyKind
    made_at: datetime
    bytes: int

    @property
    def name(self) -> str:
        """What people call it: the file, or the folder that it was put aside in."""
        return self.path.parent.name if self.kind in {CopyKind.REPLACED, CopyKind.DAMAGED} else self.path.name


@attrs.frozen(kw_only=True)
class CopyContents:
    """What a copy holds, and whether it is sound."""

    event_count: int = 0
    memory_count: int = 0
    problem: str = ""
    """The first damage that was found, or why it cannot be read; empty if it is sound."""


def superfluous(copies: Iterable[BackupCopy], *, keep_count: int, most_bytes: int) -> tuple[BackupCopy, ...]:
    """Those that make room: of each bounded kind, all but the newest ``keep_count``; of these, the oldest until all
    that are left take at most ``most_bytes``. The newest of all stays, whatever it takes.
    """
    bounded = sorted((each for each in copies if each.kind in BOUNDED), key=lambda each: each.made_at, reverse=True)
    kept: list[BackupCopy] = []
    for copy in bounded:
        is_too_many = sum(each.kind is copy.kind for each in kept) >= keep_count
        is_too_much = bool(kept) and sum(each.bytes for each in kept) + copy.bytes > most_bytes
        if not is_too_many and not is_too_much:
            kept.append(copy)
    return tuple(copy for copy in bounded if copy not in kept)


def newest_restorable(copies: Sequence[BackupCopy]) -> BackupCopy | None:
    """The newest copy that may take the place of a lost store; None if there is none."""
    return max((each for each in copies if each.kind in RESTORABLE), key=lambda each: each.made_at, default=None)


@attrs.frozen(kw_only=True)
class NewerThanCopy:
    """What the store holds and a copy of it does not."""

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
    """What was put together from a damaged store."""

    memories: SavedRows
    events: SavedRows
    others: SavedRows
    """All that stands beside them: what waits, what was replaced, the graph."""
    from_copy_count: int = 0
    """Of the memories and events, those that a copy still had."""
    unreadable_page_count: int
    """Pages of which nothing can be read: what was on them is lost, whether or not it is counted."""


# How far the upgrade of a database is.


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
