"""Steps of the schema's history, and the function that applies them.

It brings a database to the newest schema in one transaction, or refuses before it changes anything.
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
    """Facts about the machine that a step may need."""

    namespace_in_use: Callable[[str, str | None, str | None], Namespace] = _in_use
    """The namespace that hooks use today for one of the first kiro-learn. The further arguments are the actor's name
    and the project's folder in an event that was kept there."""
    first_buffers: Path | None = None
    """The folder in which the first kiro-learn kept events that waited to be learned, a folder for each project."""


NO_CONTEXT = MigrationContext()
"""The context of a database that no other files belong to."""


@attrs.frozen
class Migration:
    """A step that turns the schema before ``version`` into ``version``. Once released, it is never edited."""

    version: int
    name: str
    change: str | Callable[[apsw.Connection, MigrationContext], None]
    """SQL, or a function where SQL is not enough. It runs inside the migration's transaction."""
    development_versions: range = range(0)
    """The steps of development versions that became this one together; none of them was released alone."""
    development_name: str = ""
    """The name by which development versions recorded this step."""

    def is_named(self, name: str) -> bool:
        """Whether this step may be recorded as ``name``. The first kiro-learn put the number before the name."""
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
"""Steps of SQLite's virtual machine between two chances to stop: some milliseconds."""


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
    """Apply, in order, the migrations that are missing, and return them. A database that has all is only read.

    Args:
      guarded: makes the block in which a database of this version is changed and the change committed, while no other
        process can write; not called for a new database.
      context: what a step may ask of the machine.
      report: called before every step, unless the database is new; an error that it raises undoes everything.
      interrupted: called all the time; True, or an error that it raises, undoes everything.

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
            connection.set_progress_handler(None)  # a commit must not seem interrupted
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
    """Whether the last applied migration is the last of ``migrations``. A newer kiro_learn's database has others."""
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
