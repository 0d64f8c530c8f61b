"""How far the upgrade of the database is, in a file that clients read while the daemon does not answer yet."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kiro_learn.adapters.files import private
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage

SECONDS_BETWEEN_WRITES = 0.25


@contextmanager
def upgrade_announced(path: Path) -> Iterator[Callable[[UpgradeProgress], None]]:
    """Keep in ``path`` what the block reports, written seldom; at its end the file goes."""
    written_at: dict[UpgradeStage, float] = {}

    def report(progress: UpgradeProgress) -> None:
        now = time.monotonic()
        if progress.stage is UpgradeStage.BACKUP and now - written_at.get(progress.stage, 0) < SECONDS_BETWEEN_WRITES:
            return
        written_at[progress.stage] = now
        notice = {"stage": progress.stage, "done": progress.done, "total": progress.total}
        private.write(path, json.dumps(notice).encode())

    try:
        yield report
    finally:
        path.unlink(missing_ok=True)
