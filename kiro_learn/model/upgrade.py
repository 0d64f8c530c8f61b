"""How far the upgrade of a database is."""

from __future__ import annotations

import enum

import attrs


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
