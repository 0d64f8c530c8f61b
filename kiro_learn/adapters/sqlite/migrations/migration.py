"""One step of the schema's history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import attrs

from kiro_learn.errors import StorageCorrupt
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
