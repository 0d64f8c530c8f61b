"""Steps of the schema's history, and what runs them.

Brings a database to the newest schema in one transaction, or refuses before it touches anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path

import apsw
import attrs
import structlog

from kiro_learn.errors import MigrationDriftError, SchemaTooNew, StorageCorrupt
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage
from kiro_learn.model.ids import to_text
from kiro_learn.model.namespace import Namespace, within_our_limits


def _in_use(namespace: str, actor_id: str | None, _project_path: str | None) -> Namespace:
    return within_our_limits(namespace, actor_id=actor_id or "")


@attrs.frozen(kw_only=True)
class MigrationContext:
    """What a step may ask of the machine that the database stands on."""

    namespace_in_use: Callable[[str, str | None, str | None], Namespace] = _in_use
    """The namespace that hooks use today for what the first kiro-learn kept under this one, with the actor's name and
    the project's folder of an event that it kept there."""
    first_buffers: Path | None = None
    """Where the first kiro-learn kept what waited for learning, a folder for each project."""


NO_CONTEXT = MigrationContext()
"""Of a database with nothing beside it."""


@attrs.frozen
class Migration:
    """What turns the schema before ``version`` into ``version``. Once released, it is never edited."""

    version: int
    name: str
    change: str | Callable[[apsw.Connection, MigrationContext], None]
    """SQL, or a function for what SQL alone cannot say; it runs inside the migration's transaction."""
    development_versions: range = range(0)
    """Steps of development versions that together came to this one; none of them was released alone."""
    development_name: str = ""
    """What development versions recorded this one as."""

    def is_named(self, name: str) -> bool:
        """Whether this step may be recorded as ``name``: the first kiro-learn's documents also give the number."""
        return name in {self.name, f"{self.version:04}_{self.name}", self.development_name}

    def apply(self, connection: apsw.Connection, context: MigrationContext) -> None:
        if isinstance(self.change, str):
            connection.execute(self.change)
        else:
            self.change(connection, context)


def unreadable_row(connection: apsw.Connection, table: str, row_id: str, problem: str) -> StorageCorrupt:
    """The error that stops an upgrade at a row, with the command that lets it go on without that row."""
    key = {"events": "event_id", "memory_records": "record_id"}[table]
    hint = "Nothing was changed."
    if row_id.replace("_", "").isalnum() and row_id.isascii():
        removal = f"DELETE FROM {table} WHERE {key} = '{row_id}'"  # noqa: S608  # shown, not run
        hint += f' To go on without it: sqlite3 {connection.filename} "{removal}"'
    return StorageCorrupt(f"the row {row_id} of {table} cannot be read: it {problem}", hint=hint)


log = structlog.get_logger()

BOOKS = """
    CREATE TABLE IF NOT EXISTS _migrations (
        version INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        applied_at TEXT NOT NULL
    ) STRICT
"""
HAS_BOOKS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_migrations'"
APPLIED = "SELECT version, name FROM _migrations ORDER BY version"
ENTER = "INSERT INTO _migrations (version, name, applied_at) VALUES (:version, :name, :applied_at)"

STEPS_BETWEEN_INTERRUPTIONS = 100_000
"""Of SQLite's virtual machine: some milliseconds."""


def unguarded(_version: int) -> AbstractContextManager[None]:
    return nullcontext()


def unreported(_progress: UpgradeProgress) -> None:
    """Ignore the progress."""


def uninterrupted() -> bool:
    return False


def migrate(
    connection: apsw.Connection,
    migrations: Sequence[Migration],
    *,
    utc_now: Callable[[], datetime],
    context: MigrationContext = NO_CONTEXT,
    guarded: Callable[[int], AbstractContextManager[None]] = unguarded,
    report: Callable[[UpgradeProgress], None] = unreported,
    interrupted: Callable[[], bool] = uninterrupted,
) -> list[Migration]:
    """Apply, in order, what was not applied yet; return it. A database that is up to date is only read.

    Args:
      guarded: makes the block in which a database of this version is changed and the change committed, with other
        writers kept out; not called for a database that is new.
      context: what a step may ask of the machine.
      report: told before every step, unless the database is new; what it raises undoes everything.
      interrupted: asked all the time; True, or what it raises, undoes everything.

    Raises:
      SchemaTooNew: it has steps that we do not know.
      MigrationDriftError: it knows one of our steps under another name.
      StorageCorrupt: a row cannot be read; it is named, and nothing was changed.
    """
    if not _pending(connection, migrations):
        return []
    connection.execute("BEGIN IMMEDIATE")
    connection.set_progress_handler(interrupted, STEPS_BETWEEN_INTERRUPTIONS)
    try:
        pending = _pending(connection, migrations)
        before = max(_applied(connection), default=0)
        told = report if before else unreported
        with guarded(before) if before else nullcontext():
            connection.execute(BOOKS)
            for place, migration in enumerate(pending):
                told(UpgradeProgress(UpgradeStage.MIGRATION, place, len(pending)))
                migration.apply(connection, context)
                _enter(connection, migration, utc_now())
            told(UpgradeProgress(UpgradeStage.COMMIT, 0, 1))
            connection.set_progress_handler(None)  # what is committed must not seem interrupted
            connection.execute("COMMIT")
    finally:
        connection.set_progress_handler(None)
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if pending:
        log.info("storage.migrated", from_version=before, to_version=pending[-1].version)
    return pending


def begin(connection: apsw.Connection, migrations: Sequence[Migration], *, utc_now: Callable[[], datetime]) -> None:
    """Bring an empty database, which nobody else uses, to the newest schema; nothing is logged."""
    connection.execute("BEGIN")
    connection.execute(BOOKS)
    for migration in migrations:
        migration.apply(connection, NO_CONTEXT)
        _enter(connection, migration, utc_now())
    connection.execute("COMMIT")


def is_newest(connection: apsw.Connection, migrations: Sequence[Migration]) -> bool:
    """Whether the last of them is the last that was applied; a newer kiro_learn's database is not."""
    return max(_applied(connection), default=0) == migrations[-1].version


def _pending(connection: apsw.Connection, migrations: Sequence[Migration]) -> list[Migration]:
    applied = _applied(connection)
    _refuse_strangers(applied, migrations)
    return [migration for migration in migrations if migration.version not in applied]


def _applied(connection: apsw.Connection) -> dict[int, str]:
    if not connection.execute(HAS_BOOKS).get:
        return {}
    return {int(version): str(name) for version, name in connection.execute(APPLIED)}


def _refuse_strangers(applied: dict[int, str], migrations: Sequence[Migration]) -> None:
    known = {migration.version: migration for migration in migrations}
    newest = max(known)
    if applied and max(applied) > newest:
        raise SchemaTooNew(found=max(applied), known=newest)
    finished = {each for version in applied if version in known for each in known[version].development_versions}
    for version, name in applied.items():
        migration = known.get(version)
        if migration is None and version not in finished:
            raise MigrationDriftError(version, recorded=name)
        if migration is not None and not migration.is_named(name):
            raise MigrationDriftError(version, recorded=name, known=migration.name)


def _enter(connection: apsw.Connection, migration: Migration, now: datetime) -> None:
    connection.execute(ENTER, {"version": migration.version, "name": migration.name, "applied_at": to_text(now)})
