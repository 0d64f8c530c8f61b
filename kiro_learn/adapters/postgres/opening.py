"""From a URL to a store that is ready to answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import PurePath
from uuid import uuid4

import trio

from kiro_learn.adapters.postgres.connection import Server
from kiro_learn.adapters.postgres.others import Commits, Turns
from kiro_learn.adapters.postgres.readers import PostgresReaders
from kiro_learn.adapters.postgres.schema import bring_to_today
from kiro_learn.adapters.postgres.storage import PostgresStorage
from kiro_learn.adapters.postgres.words import WordMirror
from kiro_learn.adapters.postgres.writer import PostgresWriter, UsingConnection
from kiro_learn.config import StorageConfig


async def open_postgres_storage(
    url: str, config: StorageConfig, *, utc_now: Callable[[], datetime], user_home: PurePath | None = None
) -> PostgresStorage:
    """Open the database at ``url``, with the newest schema. Close it in the end.

    Args:
      utc_now: stamps what is written.
      user_home: projects below it are shown by their path from there.

    Raises:
      StorageUnavailable: the server cannot be reached.
      StorageBusy: a memory is being moved into it, or out of it.
      SchemaTooNew: a newer kiro_learn wrote it; nothing was touched.
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
