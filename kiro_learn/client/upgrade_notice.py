"""What the daemon says of an upgrade of its database, during which it answers nothing else."""

from __future__ import annotations

import json
from pathlib import Path

FILE = "daemon.upgrade"

STAGES = {
    "backup": "copied {share:.0%} of it into backups/ first",
    "check": "checking the copy, table {place} of {total}",
    "migration": "step {place} of {total}",
    "commit": "writing it to the disk",
}


def read_upgrade(home: Path | str) -> str:
    """How far the upgrade is, for people; empty if there is none."""
    try:
        notice = json.loads(Path(home, FILE).read_bytes())
        done, total = int(notice["done"]), int(notice["total"])
        return STAGES[notice["stage"]].format(share=done / max(1, total), place=done + 1, total=total)
    except (OSError, ValueError, KeyError, TypeError):
        return ""
