"""From a path to a store that is ready to answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path, PurePath

import apsw
import attrs
import structlog
import trio

from kiro_learn.adapters.sqlite.backup import backed_up, keep_finished
from kiro_learn.adapters.sqlite.connections import Readers, make_private, open_reader, open_writer, settle
from kiro_learn.adapters.sqlite.damage import insist_on_tables, map_errors
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import NO_CONTEXT, MigrationContext, migrate, unguarded, unreported
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.config import StorageConfig
from kiro_learn.model.backup import UpgradeProgress

log = structlog.get_logger()


@attrs.frozen(kw_only=True)
class Upgrade:
    """What the upgrade of an older database needs: a folder for the copy, what its steps may ask, a report."""

    backups: Path | None = None
    """The folder for a copy of the database as it was; without one, none is made."""
    context: MigrationContext = NO_CONTEXT
    report: Callable[[UpgradeProgress], None] = unreported
    """Called in a thread with the progress of an upgrade."""


WITHOUT_BACKUP = Upgrade()
"""For databases of tests: no copy is made, and no file beside them is read."""


async def open_sqlite_storage(
    path: Path,
    config: StorageConfig,
    *,
    utc_now: Callable[[], datetime],
    user_home: PurePath | None = None,
    upgrade: Upgrade = WITHOUT_BACKUP,
) -> SqliteStorage:
    """Open the database at ``path``, made if it is not there and brought to the newest schema. Close it in the end.

    Args:
      utc_now: stamps what is written.
      user_home: projects below it are shown by their path from there.

    Cancellation: an upgrade is undone before this returns.

    Raises:
      StorageUnavailable: it cannot be opened, or is a symbolic link.
      StorageCorrupt: it is no database, lacks a table, or an upgrade met a row it cannot read; nothing was changed.
      StorageError: there is no room for an upgrade; nothing was changed.
      SchemaTooNew, MigrationDriftError: another kiro_learn wrote it; nothing was touched.
    """
    writer, readers = await trio.to_thread.run_sync(_connect, path, config, utc_now, upgrade)
    return SqliteStorage(Writer(path, writer, utc_now=utc_now), Readers(path, readers), user_home=user_home)


def _connect(
    path: Path, config: StorageConfig, utc_now: Callable[[], datetime], upgrade: Upgrade
) -> tuple[apsw.Connection, list[apsw.Connection]]:
    make_private(path)
    with map_errors(path), contextlib.ExitStack() as opened:
        writer = open_writer(path, busy_seconds=config.busy_seconds)
        opened.callback(writer.close)
        _upgrade(path, writer, utc_now, upgrade)
        insist_on_tables(path, writer)
        settle(writer)
        readers = list(_readers(path, config))
        opened.pop_all()
        return writer, readers


def _readers(path: Path, config: StorageConfig) -> Iterator[apsw.Connection]:
    """As many as the settings want, or as there are descriptors for: one is enough to answer."""
    for number in range(config.reader_count):
        try:
            yield open_reader(path, busy_seconds=config.busy_seconds)
        except apsw.CantOpenError:
            if not number:
                raise
            log.warning("storage.few_readers", reader_count=number, wanted=config.reader_count)
            return


def _upgrade(path: Path, writer: apsw.Connection, utc_now: Callable[[], datetime], upgrade: Upgrade) -> None:
    def guarded(version: int) -> AbstractContextManager[None]:
        if upgrade.backups is None:
            return unguarded(version)
        return backed_up(path, upgrade.backups, version=version, now=utc_now(), report=report)

    def report(progress: UpgradeProgress) -> None:
        upgrade.report(progress)
        trio.from_thread.check_cancelled()

    migrate(
        writer,
        MIGRATIONS,
        utc_now=utc_now,
        context=upgrade.context,
        guarded=guarded,
        report=report,
        interrupted=_stop_if_cancelled,
    )
    if upgrade.backups is not None:
        keep_finished(upgrade.backups, now=utc_now())


def _stop_if_cancelled() -> bool:
    """Raise trio.Cancelled in the thread; apsw interrupts the statement and hands the exception on."""
    trio.from_thread.check_cancelled()
    return False
