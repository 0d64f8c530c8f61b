"""Opens the store at a path. An older database is copied and then upgraded.

The program that wrote the database can go on with the copy. During the upgrade, the copy's name ends in
``.unfinished``. A failed upgrade changes nothing, so its copy is removed: a daemon that is started again and again must
not fill the disk with copies of one state.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path, PurePath

import apsw
import attrs
import structlog
import trio

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.connections import (
    Readers,
    make_private,
    open_reader,
    open_writer,
    settle,
    stop_if_cancelled,
)
from kiro_learn.adapters.sqlite.damage import insist_on_tables, map_errors
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import NO_CONTEXT, MigrationContext, migrate, unguarded, unreported
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage

PAGES_AT_A_TIME = 1024
"""Pages that are copied between two chances to stop: 4 MiB with SQLite's usual page size."""

ROOM_FOR_THE_UPGRADE = 2
"""Room for the upgrade, without the copy, in sizes of the file: for SQLite's journal, and since the file grows."""

UNFINISHED = ".unfinished"

Report = Callable[[UpgradeProgress], None]


@contextmanager
def backed_up(path: Path, folder: Path, *, version: int, now: datetime, report: Report) -> Iterator[None]:
    """Copy and check the database at ``path`` before the block; keep the copy if the block raises nothing.

    The caller keeps other writers out until the block ends.

    Raises:
      StorageError: there is no room for the copy and the upgrade.
      StorageCorrupt: the database is damaged.
    """
    unfinished = folder / f"{path.stem}-v{version}{path.suffix}{UNFINISHED}"
    _refuse_without_room(path, folder)
    unfinished.unlink(missing_ok=True)
    with ExitStack() as on_failure:
        on_failure.callback(unfinished.unlink, missing_ok=True)
        with map_errors(path):
            _copy(path, unfinished, report)
        yield
        on_failure.pop_all()
    unfinished.replace(folder / f"{path.stem}-v{version}-{now:%Y%m%dT%H%M%SZ}{path.suffix}")
    flush_folder(folder)


def keep_finished(folder: Path, *, now: datetime) -> None:
    """Give copies of finished upgrades their final names, if the process ended before it did."""
    for unfinished in folder.glob(f"*{UNFINISHED}"):
        finished = Path(unfinished.name.removesuffix(UNFINISHED))
        unfinished.replace(folder / f"{finished.stem}-{now:%Y%m%dT%H%M%SZ}{finished.suffix}")


def _refuse_without_room(path: Path, folder: Path) -> None:
    needed, free = bytes_of(path) * (1 + ROOM_FOR_THE_UPGRADE), shutil.disk_usage(folder).free
    if free < needed:
        raise StorageError(
            f"the upgrade of {path} needs {needed / 1e9:.1f} GB of free space, and there are {free / 1e9:.1f} GB",
            hint="Free some disk space. Nothing was changed.",
        )


def bytes_of(path: Path) -> int:
    """The size of a database with its log."""
    return sum(each.stat().st_size for each in (path, Path(f"{path}-wal")) if each.is_file())


def _copy(path: Path, target: Path, report: Report) -> None:
    with closing(open_reader(path, busy_seconds=0)) as source, copied(source, target, report) as copy:
        _refuse_damaged(path, copy, report)


@contextmanager
def copied(source: apsw.Connection, target: Path, report: Report) -> Iterator[apsw.Connection]:
    """Copy the database of ``source`` into the new file ``target``; the block gets the copy's connection."""
    make_private(target)
    with closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as copy:
        copy.execute("PRAGMA synchronous = FULL")
        copy.execute("PRAGMA journal_mode = OFF")  # an unfinished copy is removed
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(PAGES_AT_A_TIME)
                done = backup.page_count - backup.remaining
                report(UpgradeProgress(UpgradeStage.BACKUP, done, backup.page_count))
        # The copy of a database in WAL mode is in WAL mode too, and would be three files.
        copy.execute("PRAGMA journal_mode = DELETE")
        yield copy


def _refuse_damaged(path: Path, copy: apsw.Connection, report: Report) -> None:
    """Raise StorageCorrupt for a damaged ordinary table. An index of words can be made again, so it may be damaged."""
    tables = [str(name) for (name,) in copy.execute(statements.ORDINARY_TABLES)]
    for place, table in enumerate(tables):
        report(UpgradeProgress(UpgradeStage.CHECK, place, len(tables)))
        found = copy.execute(statements.QUICK_CHECK, {"table": table}).get
        if found != "ok":
            raise StorageCorrupt(
                f"the database {path} is damaged, and is not upgraded: {found}",
                hint="Put a sound copy in its place. Nothing was changed.",
            )


def flush_folder(folder: Path) -> None:
    """Have the names in ``folder`` written to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


log = structlog.get_logger()


@attrs.frozen(kw_only=True)
class Upgrade:
    """What the upgrade of an older database needs: a folder for the copy, a context for its steps, a report."""

    backups: Path | None = None
    """The folder for a copy of the old database; None: no copy is made."""
    context: MigrationContext = NO_CONTEXT
    report: Callable[[UpgradeProgress], None] = unreported
    """Called in a thread with the progress of an upgrade."""


WITHOUT_BACKUP = Upgrade()
"""For databases of tests: no copy is made, and no other file is read."""


async def open_sqlite_storage(
    path: Path,
    config: StorageConfig,
    *,
    utc_now: Callable[[], datetime],
    user_home: PurePath | None = None,
    upgrade: Upgrade = WITHOUT_BACKUP,
) -> SqliteStorage:
    """Open the database at ``path``, which is made or upgraded if need be. The caller closes it.

    Args:
      utc_now: gives the time for what is written.
      user_home: the path of a project below it is shown relative to it.

    Cancellation: an upgrade is undone before this returns.

    Raises:
      StorageUnavailable: it cannot be opened, or is a symbolic link.
      StorageCorrupt: it is no database, lacks a table, or an upgrade met a row it cannot read; nothing was changed.
      StorageError: there is no room for an upgrade; nothing was changed.
      SchemaTooNew, MigrationDriftError: another kiro_learn wrote it; nothing was changed.
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
    """As many readers as the settings want, or as there are file descriptors for; at least one."""
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
        interrupted=stop_if_cancelled,
    )
    if upgrade.backups is not None:
        keep_finished(upgrade.backups, now=utc_now())
