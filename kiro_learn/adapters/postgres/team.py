"""A team's memories in a schema of a PostgreSQL database, with row-level security (``team.sql``).

A daemon connects as its user's role, which owns nothing there. So the server knows who shares a memory, and lets nobody
else change it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, LiteralString, TypeVar

import psycopg
import trio
from psycopg import sql

from kiro_learn.adapters.postgres.connection import PostgresConnection, RowRefused, Server, errors_named
from kiro_learn.errors import InvalidRequest, StorageError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.sharing import SharedHead, SharedKey, SharedTexts, TeamView, is_team_name

T = TypeVar("T")

TABLES = Path(__file__).with_name("team.sql")
LOCK_SECONDS = 5.0
STATEMENT_SECONDS = 5
"""The longest time of one statement; a daemon that stops waits for it."""

SETUP_HINT = "Whoever owns the database runs kiro-learn share setup URL, once."

_WHO = """
    SELECT current_user::text, has_schema_privilege(n.oid, 'USAGE')
      FROM (SELECT to_regnamespace('kiro_learn_team') AS oid) AS n
"""
_ADMITTED = """
    SELECT DISTINCT m.project FROM kiro_learn_team.members AS m
      JOIN pg_catalog.pg_roles AS r ON r.rolname = m.role AND pg_has_role(r.oid, 'USAGE')
"""
_HEADS = """
    SELECT project, owner, home, record_id, shared_at::text, memory IS NULL
      FROM kiro_learn_team.memories
     WHERE project = ANY(%(projects)s::text[]) OR (owner = current_user AND home = %(home)s)
     ORDER BY project, owner, home, record_id
"""
_READ = """
    SELECT m.project, m.owner, m.home, m.record_id, m.shared_at::text, m.memory
      FROM kiro_learn_team.memories AS m
      JOIN unnest(%(projects)s::text[], %(owners)s::text[], %(homes)s::text[], %(ids)s::text[])
           AS asked (project, owner, home, record_id) USING (project, owner, home, record_id)
     WHERE m.memory IS NOT NULL
"""
_SHARE = """
    INSERT INTO kiro_learn_team.memories (project, home, record_id, memory)
    VALUES (:project, :home, :record_id, :memory) ON CONFLICT DO NOTHING
"""
_TAKE_BACK = """
    DELETE FROM kiro_learn_team.memories
     WHERE project = %(project)s AND owner = current_user AND home = %(home)s AND record_id = ANY(%(ids)s::text[])
"""
# A role that was expelled may change its rows, but not add one.
_WITHHOLD = """
    UPDATE kiro_learn_team.memories SET memory = NULL
     WHERE project = %(project)s AND owner = current_user AND home = %(home)s AND record_id = %(record_id)s
"""
_WITHHOLD_NEW = """
    INSERT INTO kiro_learn_team.memories (project, home, record_id, memory)
    VALUES (%(project)s, %(home)s, %(record_id)s, NULL)
"""
_SHARE_AGAIN = """
    DELETE FROM kiro_learn_team.memories
     WHERE owner = current_user AND home = %(home)s AND record_id = ANY(%(ids)s::text[]) AND memory IS NULL
"""
_IS_ROLE = "SELECT 1 FROM pg_roles WHERE rolname = %s"
_ADMIT = "INSERT INTO kiro_learn_team.members (project, role) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_GRANTS: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA kiro_learn_team TO {role}",
    "GRANT SELECT ON kiro_learn_team.members TO {role}",
    "GRANT SELECT, INSERT, DELETE, UPDATE (memory) ON kiro_learn_team.memories TO {role}",
)
_EXPEL = "DELETE FROM kiro_learn_team.members WHERE project = %s AND role = ANY(%s::text[])"
_MEMBERS = "SELECT project, role FROM kiro_learn_team.members ORDER BY project, role"
NEW_ROLE_HINT = "CREATE ROLE … LOGIN PASSWORD '…'      makes one"


class _TeamServer(Server):
    setting = "share.url"
    meanwhile = "both sides keep what they have"


class TeamConnection(PostgresConnection):
    """A connection whose statements may take ``STATEMENT_SECONDS`` at most."""

    def _open(self) -> psycopg.Connection[Any]:
        is_new = self.raw is None
        raw = super()._open()
        if is_new:
            raw.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
            raw.execute("SET timezone = 'UTC'")
        return raw


class TeamDatabase:
    """``TeamMemories`` on a server. Statements run in a thread, one at a time."""

    def __init__(self, url: str, *, home: str) -> None:
        """``home``: the id of the home that shares. Raises StorageError: ``url`` is not PostgreSQL's."""
        self._server = _TeamServer(url, lock_seconds=LOCK_SECONDS)
        self._connection = TeamConnection(self._server, None)
        self._home = home
        self._limiter = trio.CapacityLimiter(1)

    @property
    def name(self) -> str:
        return self._server.name

    async def look(self, projects: Collection[str]) -> TeamView:
        return await self._ask(lambda: self._look(projects))

    async def read(self, keys: Sequence[SharedKey]) -> Mapping[SharedKey, str]:
        return await self._ask(lambda: self._read(keys))

    async def share(self, project: str, memories: SharedTexts) -> None:
        values = [
            {"project": project, "home": self._home, "record_id": record_id, "memory": text}
            for record_id, text in memories.items()
        ]
        await self._ask(lambda: self._connection.executemany(_SHARE, values))

    async def take_back(self, project: str, record_ids: Collection[RecordId]) -> None:
        values = {"project": project, "home": self._home, "ids": list(record_ids)}
        await self._ask(lambda: self._connection.run(_TAKE_BACK, values))

    async def withhold(self, project: str, record_id: RecordId) -> None:
        values = {"project": project, "home": self._home, "record_id": record_id}

        def withhold() -> None:
            self._connection.run(_WITHHOLD, values)
            if not self._connection.changes():
                self._connection.run(_WITHHOLD_NEW, values)

        await self._ask(withhold)

    async def share_again(self, record_ids: Collection[RecordId]) -> None:
        values = {"home": self._home, "ids": list(record_ids)}
        await self._ask(lambda: self._connection.run(_SHARE_AGAIN, values))

    async def close(self) -> None:
        await self._ask(self._connection.close)

    def _look(self, projects: Collection[str]) -> TeamView:
        run = self._connection.run
        [(role, may_look)] = run(_WHO)
        if may_look is None:
            raise StorageError(f"{self.name} has no memories of a team", hint=SETUP_HINT)
        if not may_look:  # the role was never admitted to any project
            return TeamView(role, self._home)
        admitted = frozenset(str(project) for (project,) in run(_ADMITTED))
        rows = run(_HEADS, {"projects": list(projects), "home": self._home})
        heads = (SharedHead(SharedKey(*key), is_withheld=bool(gone)) for *key, gone in rows)
        return TeamView(role, self._home, admitted, tuple(heads))

    def _read(self, keys: Sequence[SharedKey]) -> Mapping[SharedKey, str]:
        columns = {
            "projects": [key.project for key in keys],
            "owners": [key.owner for key in keys],
            "homes": [key.home for key in keys],
            "ids": [key.record_id for key in keys],
        }
        found = {SharedKey(*key): str(memory) for *key, memory in self._connection.run(_READ, columns)}
        return {key: found[key] for key in keys if key in found}  # others were taken back, and maybe shared again

    async def _ask(self, question: Callable[[], T]) -> T:
        try:
            return await trio.to_thread.run_sync(question, limiter=self._limiter)
        except RowRefused as error:
            raise StorageError(f"{self.name} refuses a memory ({error})", hint=SETUP_HINT) from error


class TeamDatabaseOwner:
    """``TeamOwner`` on a server."""

    def __init__(self, url: str) -> None:
        """Raises StorageError: ``url`` is not PostgreSQL's."""
        self._server = _TeamServer(url, lock_seconds=LOCK_SECONDS)

    def set_up(self) -> None:
        with self._connected() as connection:
            connection.execute(TABLES.read_bytes())

    def admit(self, project: str, roles: Sequence[str]) -> None:
        if not is_team_name(project):
            raise InvalidRequest([("PROJECT", "expected a name without slashes, commas, colons and equal signs")])
        with self._connected() as connection:
            for role in roles:
                if not connection.execute(_IS_ROLE, (role,)).fetchone():
                    raise InvalidRequest([("ROLE", f"the server has no role {role}")], hint=NEW_ROLE_HINT)
                connection.execute(_ADMIT, (project, role))
                for grant in _GRANTS:
                    connection.execute(sql.SQL(grant).format(role=sql.Identifier(role)))

    def expel(self, project: str, roles: Sequence[str]) -> int:
        with self._connected() as connection:
            return connection.execute(_EXPEL, (project, list(roles))).rowcount

    def members(self) -> list[tuple[str, str]]:
        with self._connected() as connection:
            return connection.execute(_MEMBERS).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection for the length of the block, which is one transaction."""
        with errors_named(self._server), closing(self._server.connect()) as raw, raw.transaction():
            yield raw
