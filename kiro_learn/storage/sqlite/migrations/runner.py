"""Brings a database to the newest schema, one transaction per step, or refuses before it touches anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import apsw
import structlog

from kiro_learn.errors import MigrationDriftError, SchemaTooNew
from kiro_learn.model.moment import to_text
from kiro_learn.storage.sqlite.migrations.migration import Migration

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


def migrate(
    connection: apsw.Connection, migrations: Sequence[Migration], *, utc_now: Callable[[], datetime]
) -> list[Migration]:
    """Apply, in order, what was not applied yet; return it. A database that is up to date is only read.

    Raises:
      SchemaTooNew: it has steps that we do not know.
      MigrationDriftError: it knows one of our steps under another name.
    """
    applied = _applied(connection)
    _refuse_strangers(applied, migrations)
    pending = [migration for migration in migrations if migration.version not in applied]
    for migration in pending:
        _apply(connection, migration, utc_now())
    if pending:
        log.info("storage.migrated", from_version=max(applied, default=0), to_version=pending[-1].version)
    return pending


def _applied(connection: apsw.Connection) -> dict[int, str]:
    if not connection.execute(HAS_BOOKS).get:
        return {}
    return {int(version): str(name) for version, name in connection.execute(APPLIED)}


def _refuse_strangers(applied: dict[int, str], migrations: Sequence[Migration]) -> None:
    known = {migration.version: migration.name for migration in migrations}
    newest = max(known)
    if applied and max(applied) > newest:
        raise SchemaTooNew(found=max(applied), known=newest)
    for version, name in applied.items():
        # The first kiro-learn's documents give names both with and without the number.
        if name not in {known.get(version), f"{version:04}_{known.get(version)}"}:
            raise MigrationDriftError(version, recorded=name, known=known.get(version, "nothing"))


def _apply(connection: apsw.Connection, migration: Migration, now: datetime) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(BOOKS)
        migration.apply(connection)
        connection.execute(ENTER, {"version": migration.version, "name": migration.name, "applied_at": to_text(now)})
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
