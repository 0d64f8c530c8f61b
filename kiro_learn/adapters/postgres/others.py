"""Reads what other daemons on the same database committed, and takes turns with them.

Every commit that changes a record or the graph leaves a row in ``commits`` that says what changed, and notifies the
other daemons. The notification is only a wake-up: a daemon that misses it looks after half a minute.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import trio

from kiro_learn.adapters.postgres.connection import SCHEMA, TURNS, PostgresConnection, Server
from kiro_learn.adapters.postgres.schema import trim
from kiro_learn.adapters.postgres.words import SAFE_SECONDS
from kiro_learn.adapters.sqlite.embeddings import from_blob, is_damaged
from kiro_learn.errors import StorageError, StorageUnavailable
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId, from_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import ModelIdentity
from kiro_learn.ports.storage.answers import (
    Change,
    GraphChanged,
    ModelSwitched,
    RecordEmbedded,
    RecordRemoved,
    RecordStored,
)

LOOK_SECONDS = 30.0
"""The seconds between two looks while no notification comes."""
GATHER_SECONDS = 0.05
"""The wait after a notification: commits in quick succession, this daemon's too, are read together."""
READ_AT_ONCE = 500
SECONDS_BETWEEN_TRIMS = 86_400.0

PUT_COMMIT = f"INSERT INTO commits (daemon, changes) VALUES (:daemon, :changes); NOTIFY {SCHEMA}"  # noqa: S608  # our own name

_COMMITS = "SELECT place, daemon, changes FROM commits WHERE place > :seen ORDER BY place LIMIT :limit"
_EMBEDDED = """
    SELECT r.record_id, n.namespace, r.created_at, m.name, m.digest, m.dimension,
           CASE m.number WHEN 1 THEN r.embedding ELSE e.embedding END
      FROM json_each(:ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      JOIN namespaces AS n ON n.number = r.namespace_number
      JOIN embedding_models AS m ON m.number = n.embedding_model
      LEFT JOIN model_embeddings AS e ON e.model_number = m.number AND e.number = r.number
"""
_TAKE_TURN = f"SELECT pg_try_advisory_lock({TURNS}, hashtext(:name))"
_END_TURN = f"SELECT pg_advisory_unlock({TURNS}, hashtext(:name))"


class ListeningConnection(PostgresConnection):
    """A connection that is notified of every commit while it is open."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, None)
        self.is_new = False
        """Whether it connected since commits were last read: earlier commits gave it no notification."""

    def _open(self) -> psycopg.Connection[Any]:
        if self.raw is None:
            raw = super()._open()
            raw.add_notify_handler(lambda _: None)  # without a handler, psycopg keeps all notifications
            raw.execute(f"LISTEN {SCHEMA}")
            self.is_new = True
        return super()._open()

    def listen(self) -> int:
        """The file descriptor, which is readable once there was a commit. Raises StorageUnavailable."""
        return self._open().fileno()


class Commits:
    """Reads what other daemons committed. Only one actor calls it."""

    def __init__(self, server: Server, daemon: str, *, seen: int) -> None:
        """``seen``: the place of the last commit before this daemon read anything."""
        self._connection = ListeningConnection(server)
        self._daemon = daemon
        self._seen = seen
        self._looked_at = self._trimmed_at = time.time()  # this clock goes on while the computer sleeps

    async def follow(self) -> Sequence[Change]:
        """See ``OtherDaemons.follow_others``."""
        try:
            descriptor = await trio.to_thread.run_sync(self._connection.listen)
            if not self._connection.is_new:
                with trio.move_on_after(LOOK_SECONDS):
                    await trio.lowlevel.wait_readable(descriptor)
                await trio.sleep(GATHER_SECONDS)
            return await trio.to_thread.run_sync(self._read)
        except StorageUnavailable:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def _read(self) -> Sequence[Change]:
        self._connection.is_new = False
        if time.time() - self._looked_at > SAFE_SECONDS:
            hint = "kiro-learn restart      reads what was written meanwhile"
            raise StorageError("the daemon was cut off from the database for days", hint=hint)
        self._looked_at = time.time()
        if self._looked_at - self._trimmed_at > SECONDS_BETWEEN_TRIMS:
            trim(self._connection)
            self._trimmed_at = self._looked_at
        changes: list[Change] = []
        seen = self._seen
        while True:
            found = self._connection.execute(_COMMITS, {"seen": seen, "limit": READ_AT_ONCE}).fetchall()
            for place, daemon, body in found:
                seen = place
                changes += [] if daemon == self._daemon else self._changes_in(body)
            if len(found) < READ_AT_ONCE:
                self._seen = seen  # only now: after a lost connection, all of these are read again
                return changes

    def _changes_in(self, body: str) -> list[Change]:
        changes: list[Change] = []
        embedded: list[str] = []
        for kind, namespace, *rest in json.loads(body):
            if kind == "embedded":
                embedded += rest
            elif kind in _DECODED:  # a kind that a newer version added is about data that this version does not hold
                changes.append(_DECODED[kind](Namespace(namespace), rest))
        return changes + self._embedded(embedded)

    def _embedded(self, record_ids: Sequence[str]) -> list[Change]:
        """The changes with the vectors of now. A record that is gone is left out: a later commit says so."""
        if not record_ids:
            return []
        found = self._connection.execute(_EMBEDDED, {"ids": json.dumps(record_ids)}).fetchall()
        return [
            RecordEmbedded(
                Namespace(namespace),
                RecordId(record_id),
                from_text(created_at),
                from_blob(record_id, blob, dimension),
                ModelIdentity(name, digest, dimension),
            )
            for record_id, namespace, created_at, name, digest, dimension, blob in found
            if blob is not None and not is_damaged(blob, dimension)
        ]


_DECODED: dict[str, Any] = {
    "stored": lambda namespace, rest: RecordStored(namespace, RecordId(rest[0])),
    "removed": lambda namespace, rest: RecordRemoved(namespace, RecordId(rest[0])),
    "switched": lambda namespace, rest: ModelSwitched(namespace, ModelIdentity(*rest)),
    "graph": lambda namespace, rest: GraphChanged(namespace, tuple(map(GraphItemId, rest))),
}


def encoded(changes: Iterable[Change]) -> str:
    return json.dumps([_encoded(change) for change in changes])


def _encoded(change: Change) -> list[str | int]:
    match change:
        case RecordStored():
            return ["stored", change.namespace, change.record_id]
        case RecordEmbedded():
            return ["embedded", change.namespace, change.record_id]
        case RecordRemoved():
            return ["removed", change.namespace, change.record_id]
        case ModelSwitched():
            return ["switched", change.namespace, change.model.name, change.model.digest, change.model.dimension]
        case GraphChanged():
            return ["graph", change.namespace, *change.reworded]


class Turns:
    """Takes turns with the other daemons, by advisory locks of a connection that is open only while it holds one.

    However a daemon ends, its connection ends too, and the locks with it.
    """

    def __init__(self, server: Server) -> None:
        self._connection = PostgresConnection(server, None)
        self._limiter = trio.CapacityLimiter(1)
        self._held: set[str] = set()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[bool]:
        """See ``OtherDaemons.turn``. Raises StorageUnavailable: the server is away."""
        if name in self._held:
            yield False
            return
        self._held.add(name)
        try:
            yield await self._ask(_TAKE_TURN, name)
        finally:
            self._held.discard(name)
            with trio.CancelScope(shield=True), contextlib.suppress(StorageError):  # a lost server ends the turn too
                await self._ask(_END_TURN, name)

    def close(self) -> None:
        self._connection.close()

    async def _ask(self, question: str, name: str) -> bool:
        """Ask one question at a time, as a connection must. Ending a turn that is not ours does nothing."""

        def ask() -> bool:
            try:
                return bool(self._connection.ask(question, {"name": f"{SCHEMA} {name}"}).get)
            finally:
                if not self._held:
                    self.close()

        return await trio.to_thread.run_sync(ask, limiter=self._limiter)
