"""Where the copies of a home's database are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.sqlite.copies import SqliteCopies
from kiro_learn.config import BackupConfig


def copies_of(home: Home, config: BackupConfig, utc_now: Callable[[], datetime]) -> SqliteCopies:
    """By the settings; in a folder of another disk, a home has a folder of its own."""
    name = f"kiro-learn-{hashlib.sha256(os.fsencode(home.path)).hexdigest()[:8]}"
    return SqliteCopies(
        database=home.database,
        home_folder=home.backups,
        folder=home.path / Path(config.folder).expanduser() / name if config.folder else home.backups,
        keep_count=config.keep_count,
        most_bytes=config.most_bytes,
        utc_now=utc_now,
    )
