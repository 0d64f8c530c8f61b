"""From a path to a store that is ready to answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path, PurePath

import apsw
import trio

from kiro_learn.config import StorageConfig
from kiro_learn.storage.sqlite.connections import make_private, open_reader, open_writer, settle
from kiro_learn.storage.sqlite.errors import map_errors
from kiro_learn.storage.sqlite.migrations import MIGRATIONS
from kiro_learn.storage.sqlite.migrations.runner import migrate
from kiro_learn.storage.sqlite.readers import Readers
from kiro_learn.storage.sqlite.storage import SqliteStorage
from kiro_learn.storage.sqlite.writer import Writer


async def open_sqlite_storage(
    path: Path, config: StorageConfig, *, utc_now: Callable[[], datetime], user_home: PurePath | None = None
) -> SqliteStorage:
    """Open the database at ``path``, made if it is not there and brought to the newest schema. Close it in the end.

    Args:
      utc_now: stamps what is written.
      user_home: projects below it are shown by their path from there.

    Raises:
      StorageUnavailable: it cannot be opened, or is a symbolic link.
      StorageCorrupt: it is no database.
      SchemaTooNew, MigrationDriftError: another kiro_learn wrote it; nothing was touched.
    """
    writer, readers = await trio.to_thread.run_sync(_connect, path, config, utc_now)
    return SqliteStorage(Writer(path, writer, utc_now=utc_now), Readers(path, readers), user_home=user_home)


def _connect(
    path: Path, config: StorageConfig, utc_now: Callable[[], datetime]
) -> tuple[apsw.Connection, list[apsw.Connection]]:
    make_private(path)
    with map_errors(path), contextlib.ExitStack() as opened:
        writer = open_writer(path, busy_seconds=config.busy_seconds)
        opened.callback(writer.close)
        migrate(writer, MIGRATIONS, utc_now=utc_now)
        settle(writer)
        readers = [open_reader(path, busy_seconds=config.busy_seconds) for _ in range(config.reader_count)]
        opened.pop_all()
        return writer, readers
