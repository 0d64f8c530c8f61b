"""The store on PostgreSQL: nearly all queries and writes are the SQLite store's, over other connections.

A pool of connections reads: each runs one query at a time, in a thread. One connection of a daemon writes; the daemons
on a database take turns, transaction by transaction. ``look_at`` says whether a daemon could use a database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, closing
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Any, TypeVar, cast
from uuid import uuid4

import apsw
import attrs
import psycopg
import trio

from kiro_learn.adapters.postgres.connection import IN_USE, SCHEMA, WRITES, PostgresConnection, Server
from kiro_learn.adapters.postgres.dialect import translated
from kiro_learn.adapters.postgres.others import PUT_COMMIT, Commits, Turns, encoded
from kiro_learn.adapters.postgres.schema import (
    MOVING,
    MOVING_HINT,
    VERSION,
    bring_to_today,
    insist_on_fitness,
    version_of,
)
from kiro_learn.adapters.postgres.words import WordMirror
from kiro_learn.adapters.sqlite import search
from kiro_learn.adapters.sqlite.connections import Loan, Readers
from kiro_learn.adapters.sqlite.graph_reads import search_words
from kiro_learn.adapters.sqlite.observation_reads import search_syntax
from kiro_learn.adapters.sqlite.storage import SqlStorage
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageBusy, StorageError
from kiro_learn.model.graph import GraphItemId, GraphKind
from kiro_learn.model.retention import FileSize
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.model.statistics import ServerFacts
from kiro_learn.ports.storage.answers import Change, Committed, Outcome, RecordRemoved, SearchParams
from kiro_learn.ports.storage.graph import GraphWords
from kiro_learn.ports.storage.records import SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.kept_texts import forget_texts

T = TypeVar("T")

ONE_STATE = "ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresReaders(Readers):
    """``Readers`` of a server. A cancelled caller goes on at once, and the server is sent a cancel request."""

    def __init__(self, server: Server, words: WordMirror, count: int) -> None:
        self._server = server
        self._words = words
        connections = [PostgresConnection(server, words) for _ in range(count)]
        super().__init__(Path(server.name), cast("list[apsw.Connection]", connections))

    async def open_another(self) -> tuple[Path, apsw.Connection]:
        connection = PostgresConnection(self._server, self._words)
        await trio.to_thread.run_sync(connection.begin, ONE_STATE)
        await trio.to_thread.run_sync(connection.run, "SELECT 1 FROM namespaces LIMIT 1", None)
        return self._path, cast("apsw.Connection", connection)

    def _answer(self, loan: Loan, query: Callable[[apsw.Connection], T]) -> T:
        connection = cast("PostgresConnection", loan.connection)
        try:
            ended = connection.begin(ONE_STATE)
            loan.stop = partial(_cancel_soon, connection, ended)
            return query(loan.connection)
        finally:
            connection.end()


def _cancel_soon(connection: PostgresConnection, ended: threading.Event) -> None:
    trio.lowlevel.start_thread_soon(partial(connection.cancel, ended), lambda _: None)


_IN_USE = f"{IN_USE}, hashtext('{SCHEMA}')"
"""The lock for using the database: daemons share it, and a move of a memory holds it alone."""
_WRITES = f"{WRITES}, hashtext('{SCHEMA}')"
"""The lock of the transaction that writes, so that there is one writer, as on SQLite: it writes what depends on what it
read before, and places in ``commits`` are in the order of the commits."""

LONGEST_PAUSE = "10s"
"""The longest pause in a transaction that writes: a computer that falls asleep must not stop the other daemons."""


class UsingConnection(PostgresConnection):
    """The writer's connection. It holds the lock for using the database, so that no memory is moved meanwhile."""

    def __init__(self, server: Server, *, alone: bool = False) -> None:
        """``alone``: no daemon may use the database while this connection is open."""
        super().__init__(server, None)
        self._how = "pg_advisory_lock" if alone else "pg_advisory_lock_shared"

    def _open(self) -> psycopg.Connection[Any]:
        if self.raw is None:
            with ExitStack() as opened:
                raw = opened.enter_context(closing(self.server.connect()))
                self._insist(raw)
                opened.pop_all()
            self.raw = raw
        return self.raw

    def _insist(self, raw: psycopg.Connection[Any]) -> None:
        name = self.server.name
        try:
            raw.execute(f"SELECT {self._how}({_IN_USE})")  # a daemon that just stopped may hold it a moment longer
        except psycopg.errors.LockNotAvailable as error:
            if self._how == "pg_advisory_lock":
                raise StorageBusy(f"a daemon uses {name}", hint="Stop every daemon that uses it.") from error
            hint = "A memory is being moved: wait until kiro-learn storage move has ended."
            raise StorageBusy(f"{name} cannot be used now", hint=hint) from error
        raw.execute(f"SET idle_in_transaction_session_timeout = '{LONGEST_PAUSE}'")


class PostgresWriter(Writer):
    """``Writer`` on a server: it takes the write lock, and notes each commit for the other daemons."""

    def __init__(self, connection: UsingConnection, *, daemon: str, utc_now: Callable[[], datetime]) -> None:
        super().__init__(Path(connection.server.name), cast("apsw.Connection", connection), utc_now=utc_now)
        self._own = connection
        self._daemon = daemon

    def _begin(self) -> None:
        self._own.begin(f"; SELECT pg_advisory_xact_lock({_WRITES})")

    def _commit(self, outcomes: Sequence[Outcome]) -> None:
        changes = [change for each in outcomes if isinstance(each, Committed) for change in each.changes]
        if changes:
            values = {"daemon": self._daemon, "changes": encoded(changes)}
            self._own.run(f"{translated(PUT_COMMIT)}; COMMIT", values)
        else:
            self._own.run("COMMIT", None)

    def _erasing(self, numbers: set[int]) -> Iterator[None]:  # noqa: ARG002  # all tables are vacuumed
        """Vacuum all tables at once: they hold old versions of rows until then."""
        self._rewrite()
        yield from ()

    def _rewrite(self) -> None:
        tables = self._own.run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()", None)
        self._own.run(f"VACUUM {', '.join(name for (name,) in tables)}", None)


SECONDS_BETWEEN_LOOKS = 0.05

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""


class PostgresStorage(SqlStorage):
    """A ``StorageBackend`` in a schema of a PostgreSQL database. ``open_postgres_storage`` makes one."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        mirror: WordMirror,
        *,
        commits: Commits,
        turns: Turns,
        user_home: PurePath | None,
    ) -> None:
        super().__init__(writer, readers, user_home=user_home)
        self._mirror = mirror
        self._commits = commits
        self._turns = turns

    async def follow_others(self) -> Sequence[Change]:
        changes = await self._commits.follow()
        self._note(changes)
        if any(isinstance(change, RecordRemoved) for change in changes):
            forget_texts()
        return changes

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        return self._turns.turn(name)

    async def close(self) -> None:
        self._commits.close()
        self._turns.close()
        await super().close()

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        return await self._read_words(partial(search.rank_by_words, params=params, indexes=self._words))

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        return await self._read_words(partial(search_syntax, search=search))

    async def search_graph_words(self, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
        return await self._read_words(partial(search_words, search=search))

    async def get_file_size(self) -> FileSize:
        """The size of tables and indexes. None of it counts as free: the server reuses free space by itself."""
        return await self.readers.read(lambda connection: FileSize(connection.execute(SIZE).get, 0))

    async def _read_words(self, query: Callable[[apsw.Connection], T]) -> T:
        """Run ``query`` with the mirror of words locked: the mirror must not be ahead of what the query sees."""

        def in_turn(connection: apsw.Connection) -> T:
            while not self._mirror.lock.acquire(timeout=SECONDS_BETWEEN_LOOKS):
                trio.from_thread.check_cancelled()  # a cancelled caller gives its connection back
            try:
                self._mirror.catch_up(cast("PostgresConnection", connection))
                return query(connection)
            finally:
                self._mirror.lock.release()

        return await self.readers.read(in_turn)


async def open_postgres_storage(
    url: str, config: StorageConfig, *, utc_now: Callable[[], datetime], user_home: PurePath | None = None
) -> PostgresStorage:
    """Open the database at ``url``, with the newest schema. The caller closes it.

    Args:
      utc_now: gives the time for what is written.
      user_home: the path of a project below it is shown relative to it.

    Raises:
      StorageUnavailable: the server cannot be reached.
      StorageBusy: a memory is being moved into it, or out of it.
      SchemaTooNew: a newer kiro_learn wrote it; nothing was changed.
      StorageError: the server is too old, or the role may not make the schema.
    """
    server = Server(url, lock_seconds=config.busy_seconds)
    own = UsingConnection(server)
    with ExitStack() as opened:
        opened.callback(own.close)
        seen = await trio.to_thread.run_sync(bring_to_today, own)
        opened.pop_all()
    words, daemon = WordMirror(), uuid4().hex
    return PostgresStorage(
        PostgresWriter(own, daemon=daemon, utc_now=utc_now),
        PostgresReaders(server, words, config.reader_count),
        words,
        commits=Commits(server, daemon, seen=seen),
        turns=Turns(server),
        user_home=user_home,
    )


_CAN_MAKE_SCHEMA = f"""
    SELECT CASE WHEN to_regnamespace('{SCHEMA}') IS NULL THEN has_database_privilege(current_database(), 'CREATE')
           ELSE has_schema_privilege('{SCHEMA}', 'CREATE') END
"""  # our own name
_MAY_WRITE = f"SELECT has_table_privilege('{SCHEMA}.store', 'SELECT, UPDATE')"  # our own name
_DAEMONS = f"""
    SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
     WHERE l.locktype = 'advisory' AND l.classid = {IN_USE} AND l.granted AND d.datname = current_database()
"""  # noqa: S608  # our own number


def look_at(url: str) -> ServerFacts:
    """The state of the database at ``url``, and why a daemon could not use it. Takes a few seconds at most."""
    try:
        server = Server(url, lock_seconds=1)
    except StorageError as error:
        return ServerFacts(name="PostgreSQL", problem=str(error), hint=error.hint)
    connection = PostgresConnection(server, None)
    facts = ServerFacts(name=server.name)
    try:
        return _seen(connection, facts)
    except StorageError as error:
        return attrs.evolve(facts, problem=str(error), hint=error.hint)
    finally:
        connection.close()


def _seen(connection: PostgresConnection, facts: ServerFacts) -> ServerFacts:
    version = str(connection.ask("SHOW server_version").run().get)
    facts = attrs.evolve(facts, server_version=version, daemon_count=connection.ask(_DAEMONS).get)
    insist_on_fitness(connection)
    if not connection.ask(f"SELECT to_regclass('{SCHEMA}.store') IS NOT NULL").get:
        problem = "" if connection.ask(_CAN_MAKE_SCHEMA).get else f"the role may not make the schema {SCHEMA}"
        return attrs.evolve(facts, problem=problem, hint="GRANT CREATE ON DATABASE … TO …" if problem else "")
    if not connection.ask(_MAY_WRITE).get:
        return attrs.evolve(
            facts, problem=f"the role may not use the schema {SCHEMA}", hint="Use the role that made it."
        )
    found = version_of(connection)
    facts = attrs.evolve(facts, schema_version=found, bytes=connection.ask(SIZE).get)
    if found > VERSION:
        problem = f"the database is at migration {found}, and this version knows only {VERSION}"
        return attrs.evolve(
            facts, problem=problem, hint="Install the version of kiro-learn that wrote it, or a newer one."
        )
    if connection.ask(f"SELECT to_regclass('{SCHEMA}.{MOVING}') IS NOT NULL").get:
        return attrs.evolve(facts, problem=f"a move into {facts.name} has not ended", hint=MOVING_HINT)
    return facts
