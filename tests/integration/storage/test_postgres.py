"""The store on PostgreSQL beyond the contract: who may use it, and what happens if the server goes away."""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite import (
    export,
    forgetting_statements,
    graph_statements,
    index_statements,
    merging,
    observation_reads,
    record_statements,
    retention,
    sessions,
    statements,
    statistics,
)
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import begin
from kiro_learn.config import StorageConfig
from kiro_learn.errors import SchemaTooNew, StorageError, StorageUnavailable
from kiro_learn.model.event import JsonBody, TextBody
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.testing.storage import InMemoryStorage, put_event, put_record, transact_one
from tests.postgres import PostgresForTests, postgres_server
from tests.unit.storage.builders import DAWN, MINE, event, event_id, record, record_id

FILES = (
    export,
    forgetting_statements,
    graph_statements,
    merging,
    retention,
    statements,
    record_statements,
    index_statements,
    statistics,
    sessions,
    observation_reads,
)
OF_SQLITE_ALONE = re.compile(r"_fts|vocabulary_|pragma_|sqlite_schema|dbstat")
"""Names in statements that only SQLite runs: words are found in a mirror (words.py), and there is no file."""


RELATIONS = """
    SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = 'kiro_learn' AND c.relkind IN ('r', 'S')
"""
BOOKS = "CREATE TABLE kiro_learn.store (version bigint NOT NULL, generation bigint NOT NULL)"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresForTests]:
    with postgres_server() as running:
        yield running


def run(server: PostgresForTests, scenario: Callable[[Any], Awaitable[None]]) -> None:
    async def main() -> None:
        store = await server.open(utc_now=lambda: DAWN)
        try:
            with trio.fail_after(120):
                await scenario(store)
        finally:
            await store.close()

    trio.run(main)


def cut_off(server: PostgresForTests) -> None:
    """End all connections, as a restart of the server does."""
    found = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'kiro-learn'"
    server.admin.execute(found)


@contextmanager
def another_database(server: PostgresForTests, made: str) -> Iterator[str]:
    """The URL of a database for a role that owns nothing else. The first statement of ``made`` makes it."""
    import psycopg  # noqa: PLC0415  # of an extra

    first, *others = made.format("another").split(";")
    server.admin.execute("CREATE ROLE just LOGIN")
    server.admin.execute(first)
    url = server.url.replace("/postgres?", "/another?")
    try:
        with psycopg.connect(url, autocommit=True) as inside:
            for statement in others:
                inside.execute(statement)
        yield url.replace("postgres:@", "just@")
    finally:
        server.admin.execute("DROP DATABASE another")
        server.admin.execute("DROP ROLE just")


async def open_postgres(url: str) -> Any:
    from kiro_learn.adapters.postgres.storage import open_postgres_storage  # noqa: PLC0415  # where the client is

    return await open_postgres_storage(url, StorageConfig(reader_count=1, busy_seconds=2), utc_now=lambda: DAWN)


def texts_in(file: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in vars(file).items():
        if name.isupper() and not name.startswith("_"):
            for text in value.values() if isinstance(value, dict) else [value]:
                if isinstance(text, str) and re.match(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b", text):
                    yield name, text


def test_every_statement_of_the_store_is_understood(server: PostgresForTests) -> None:
    from kiro_learn.adapters.postgres.dialect import translated  # noqa: PLC0415  # where the client is

    server.admin.execute("SET search_path = kiro_learn")
    count = 0
    for file in FILES:
        for name, text in texts_in(file):
            if not OF_SQLITE_ALONE.search(text):
                asked = re.sub(r"%\(\w+\)s", "NULL", translated(text)).replace("%%", "%")
                for part in asked.split(";"):
                    assert server.admin.execute(f"EXPLAIN {part}").fetchall(), name
                count += 1
    assert count > 300


def test_both_stores_have_the_same_columns(server: PostgresForTests) -> None:
    connection = apsw.Connection(":memory:")
    begin(connection, MIGRATIONS, utc_now=lambda: DAWN)
    here = {
        (table, column)
        for table, column in connection.execute(
            "SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c"
            " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_migrations'"
        )
    }
    there = set(
        server.admin.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'kiro_learn' AND table_name NOT IN ('store', 'commits', 'words_changed')"
            "   AND column_name <> 'rowid' AND table_name IN (SELECT tablename FROM pg_tables)"
        )
    )
    assert there == here


def test_each_trigger_of_sqlite_has_its_part_in_those_of_postgresql() -> None:
    """Only names are compared. A new trigger needs a part in ``triggers.sql``, and then its table here."""
    connection = apsw.Connection(":memory:")
    begin(connection, MIGRATIONS, utc_now=lambda: DAWN)
    found = connection.execute("SELECT DISTINCT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    items = {"graph_entities", "graph_relationships", "graph_facts", "graph_procedures", "graph_preferences"}
    endings = r"_(?:gone|put|out|set|vector_gone|vector_old|told_gone)"
    of_items = {name for name, table in found if table in items and re.fullmatch(f"{table}{endings}", str(name))}
    assert {name for name, _ in found} - of_items == {
        "await_embedding",
        "drop_embeddings",
        "drop_embeddings_of_replaced",
        "memory_feedback_gone",
    }


def test_a_newer_schema_is_refused_and_not_touched(server: PostgresForTests) -> None:
    server.admin.execute("UPDATE kiro_learn.store SET version = version + 1000")
    before = server.admin.execute("SELECT * FROM kiro_learn.store").fetchall()
    try:
        with pytest.raises(SchemaTooNew):
            trio.run(lambda: server.open_again(utc_now=lambda: DAWN))
        assert server.admin.execute("SELECT * FROM kiro_learn.store").fetchall() == before
    finally:
        server.admin.execute("UPDATE kiro_learn.store SET version = version - 1000")


def test_an_older_schema_is_expanded_and_keeps_its_rows(server: PostgresForTests) -> None:
    async def scenario(store: Any) -> None:
        await put_event(store, event(1))
        await store.close()
        server.admin.execute("ALTER TABLE kiro_learn.memory_records DROP COLUMN branch")
        server.admin.execute("DROP TABLE kiro_learn.pauses")
        server.admin.execute("UPDATE kiro_learn.store SET version = version - 1")
        store = await server.open_again(utc_now=lambda: DAWN)
        await put_record(store, record(1, "word"))
        assert await store.get_event_by_id(event_id(1)) == event(1)
        assert await store.list_pauses() == []
        await store.close()

    run(server, scenario)


def test_a_read_that_is_cancelled_is_interrupted_and_gives_its_connection_back(server: PostgresForTests) -> None:
    async def scenario(store: Any) -> None:
        begun = trio.Event()
        token = trio.lowlevel.current_trio_token()

        def sleep(connection: Any) -> None:
            token.run_sync_soon(begun.set)
            connection.execute("SELECT pg_sleep(1000)").fetchall()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.readers.read, sleep)
            await begun.wait()
            nursery.cancel_scope.cancel()
        assert await store.get_event_by_id(event_id(1)) is None, "by the only connection"

    run(server, scenario)


def test_a_store_whose_connections_were_cut_off_makes_new_ones(server: PostgresForTests) -> None:
    async def scenario(store: Any) -> None:
        await put_event(store, event(1))
        assert await store.get_event_by_id(event_id(1)) == event(1)
        await trio.to_thread.run_sync(cut_off, server)
        assert await store.get_event_by_id(event_id(1)) == event(1)
        await put_event(store, event(2))
        assert await store.get_event_by_id(event_id(2)) == event(2)

    run(server, scenario)


def test_a_server_that_takes_no_more_writes_is_told_from_others(server: PostgresForTests) -> None:
    """As one that became a standby while a daemon is connected; its questions are answered."""
    made = "CREATE DATABASE {} OWNER just"
    with another_database(server, made) as url:

        async def scenario() -> None:
            store = await open_postgres(url)
            server.admin.execute("ALTER DATABASE another SET default_transaction_read_only = on")
            server.admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'another'")
            said = ""
            with trio.fail_after(20):
                while "cannot be reached" in said or not said:  # the first attempts find that the connections are gone
                    with pytest.raises(StorageError) as refused:
                        await put_event(store, event(1))
                    said = str(refused.value)
                    await trio.sleep(0.1)
            assert "takes no writes" in said
            await store.close()

        trio.run(scenario)


def test_a_look_tells_whether_a_daemon_can_use_the_database(server: PostgresForTests) -> None:
    from kiro_learn.adapters.postgres.storage import look_at  # noqa: PLC0415  # where the client is

    async def scenario(_store: Any) -> None:
        found = await trio.to_thread.run_sync(look_at, server.url)
        assert (found.problem, found.schema_version, found.daemon_count) == ("", MIGRATIONS[-1].version, 1)

    run(server, scenario)
    assert "cannot be reached" in look_at("postgresql://127.0.0.1:1/nothing").problem
    server.admin.execute("UPDATE kiro_learn.store SET version = version + 1000")
    assert "this version knows" in look_at(server.url).problem
    server.admin.execute("UPDATE kiro_learn.store SET version = version - 1000")


def test_a_server_that_is_away_is_not_asked_by_every_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error keeps no reference to earlier callers."""
    connections = pytest.importorskip("kiro_learn.adapters.postgres.connection")
    monkeypatch.setattr(connections, "FIRST_WAIT", 1000.0)
    away = connections.Server("postgresql://127.0.0.1:1/nothing", lock_seconds=1)
    with pytest.raises(StorageUnavailable) as asked:
        away.connect()
    monkeypatch.setattr(away, "_connect", None)
    told = []
    for _ in range(3):
        with pytest.raises(StorageUnavailable) as one:
            away.connect()
        assert (str(one.value), one.value.hint) == (str(asked.value), asked.value.hint)
        told.append(len(traceback.extract_tb(one.value.__traceback__)))
    assert len(set(told)) == 1


def test_words_rank_on_both_stores_alike_while_memories_come_and_go(server: PostgresForTests) -> None:
    chance = random.Random(7)  # no secret
    vocabulary = [f"word{number}" for number in range(40)] + ["naïve", "running", "runs", "Größe", "a_b.c"]
    queries = [" ".join(chance.sample(vocabulary, 4)) for _ in range(12)]

    def text() -> str:
        return " ".join(chance.choices(vocabulary, k=chance.randint(1, 30)))

    async def scenario(store: Any) -> None:
        stores = (InMemoryStorage(), store)
        for turn in range(4):
            for number in range(1 + 25 * turn, 26 + 25 * turn):
                written = record(number, text()[:200], summary=text())
                for each in stores:
                    await put_record(each, written)
            gone = [record_id(number) for number in chance.sample(range(1, 26 + 25 * turn), 5)]
            for each in stores:
                await transact_one(each, lambda tx, ids=gone: tx.delete_memory_record(ids))  # type: ignore[misc]  # a default
            for query in queries:
                here, there = [await each.rank_by_words(SearchParams(MINE, query, 10)) for each in stores]
                assert there == here
                assert here.hits

    run(server, scenario)


def test_words_that_could_not_be_read_are_read_by_the_next_search(server: PostgresForTests) -> None:
    """A prompt whose time is over interrupts a search while it fills the mirror or catches up with changes."""

    async def fail_once(store: Any) -> None:
        server.admin.execute("ALTER TABLE kiro_learn.memory_records RENAME COLUMN title TO away")
        try:
            with pytest.raises(StorageError):
                await store.rank_by_words(SearchParams(MINE, "word", 10))
        finally:
            server.admin.execute("ALTER TABLE kiro_learn.memory_records RENAME COLUMN away TO title")

    async def scenario(store: Any) -> None:
        await put_record(store, record(1, "word"))
        await fail_once(store)
        found = await store.rank_by_words(SearchParams(MINE, "word", 10))
        assert ([hit.record_id for hit in found.hits], found.is_index_damaged) == ([record_id(1)], False)
        await put_record(store, record(2, "word"))
        await fail_once(store)
        found = await store.rank_by_words(SearchParams(MINE, "word", 10))
        assert {hit.record_id for hit in found.hits} == {record_id(1), record_id(2)}

    run(server, scenario)


@pytest.mark.parametrize(
    "text", ["a\ufdd0b", "\0\ufdd0\0", "\ufdd0\ufdd1", "\ufdd0\ufdd2", "\\\ufdd0\\\0", "\\u0000\0"]
)
def test_a_text_is_read_back_as_it_was(server: PostgresForTests, text: str) -> None:
    """PostgreSQL takes no U+0000: its replacement must not be confused with text that was there."""

    async def scenario(store: Any) -> None:
        as_text, as_json = event(1, body=TextBody(text)), event(2, body=JsonBody({"tool_name": text}))
        written = record(1, summary=f"a{text}", facts=(f"a{text}",))
        await put_event(store, as_text)
        await put_event(store, as_json)
        await put_record(store, written)
        assert await store.get_event_by_id(event_id(1)) == as_text
        assert await store.get_event_by_id(event_id(2)) == as_json
        assert await store.get_memory_records([record_id(1)]) == [written]

    run(server, scenario)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ("CREATE DATABASE {} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", "LATIN1"),
        ("CREATE DATABASE {} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'", "SQL_ASCII"),
        ("CREATE DATABASE {}", "the role may not make the schema kiro_learn"),
        ("CREATE DATABASE {}; CREATE SCHEMA kiro_learn", "the role may not use the database"),
        ("CREATE DATABASE {0} OWNER just;ALTER DATABASE {0} SET default_transaction_read_only = on", "takes no writes"),
        ("CREATE DATABASE {}; CREATE SCHEMA kiro_learn AUTHORIZATION just", ""),
        ("CREATE DATABASE {} OWNER just; SET ROLE just; CREATE SCHEMA kiro_learn;" + BOOKS, ""),
    ],
)
def test_a_database_is_used_or_refused_by_name(server: PostgresForTests, made: str, problem: str) -> None:
    """With a limited encoding; with a role that lacks rights; with a prepared schema; with a begun move."""
    from kiro_learn.adapters.postgres.storage import look_at  # noqa: PLC0415  # where the client is

    with another_database(server, made) as url:
        assert problem in look_at(url).problem
        assert bool(look_at(url).hint) == bool(problem) == bool(look_at(url).problem)

        async def scenario() -> None:
            await (await open_postgres(url)).close()

        if problem:
            with pytest.raises(StorageError) as refused:
                trio.run(scenario)
            assert refused.value.hint
        else:
            trio.run(scenario)
            assert look_at(url).schema_version == MIGRATIONS[-1].version


def test_another_role_reads_and_changes_no_table_of_the_schema(server: PostgresForTests) -> None:
    import psycopg  # noqa: PLC0415  # of an extra

    server.admin.execute("CREATE ROLE stranger LOGIN")
    try:
        with another_database(server, "CREATE DATABASE {} OWNER just") as url:

            async def fill() -> None:
                store = await open_postgres(url)
                await put_event(store, event(1))
                await store.close()

            trio.run(fill)
            with psycopg.connect(url.replace("just@", "stranger@"), autocommit=True) as stranger:
                tables = [name for (name,) in stranger.execute(RELATIONS)]
                assert len(tables) > 30
                for table in tables:
                    for tried in ("SELECT * FROM", "DELETE FROM", "TABLE"):
                        with pytest.raises(psycopg.errors.InsufficientPrivilege):
                            stranger.execute(f"{tried} kiro_learn.{table}")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    stranger.execute("CREATE TABLE kiro_learn.mine (number int)")
    finally:
        server.admin.execute("DROP ROLE stranger")


def test_a_url_that_the_client_does_not_understand_is_told() -> None:
    inspection = pytest.importorskip("kiro_learn.adapters.postgres.storage")
    assert "storage.url" in inspection.look_at("postgresql://host/team?nonsense=1").problem


def test_a_search_that_is_cancelled_while_it_waits_for_the_words_keeps_no_connection(server: PostgresForTests) -> None:
    async def scenario(store: Any) -> None:
        begun, token, answer = trio.Event(), trio.lowlevel.current_trio_token(), store.readers._answer

        def noted(loan: Any, query: Any) -> Any:
            token.run_sync_soon(begun.set)
            return answer(loan, query)

        store.readers._answer = noted
        with store._mirror.lock:  # another search fills it
            async with trio.open_nursery() as nursery:
                nursery.start_soon(store.rank_by_words, SearchParams(MINE, "word", 10))
                await begun.wait()
                nursery.cancel_scope.cancel()
            with trio.fail_after(60):
                assert await store.get_event_by_id(event_id(1)) is None, "by the only connection"

    run(server, scenario)


def test_functions_of_an_older_kiro_learn_are_made_anew(server: PostgresForTests) -> None:
    server.admin.execute(
        "CREATE OR REPLACE FUNCTION kiro_learn.instr(body text, part text) RETURNS boolean LANGUAGE sql RETURN false"
    )
    server.admin.execute("COMMENT ON FUNCTION kiro_learn.json_valid(text) IS 'of before'")
    found = "SELECT kiro_learn.instr('memory', 'memo')"
    assert server.admin.execute(found).fetchone() == (False,)

    async def look(_store: Any) -> None:
        assert server.admin.execute(found).fetchone() == (True,)

    run(server, look)
