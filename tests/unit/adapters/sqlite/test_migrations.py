"""A database of each earlier version of ours is brought up with its rows, and takes the new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import attrs
import numpy as np
import pytest
import trio

from kiro_learn.adapters.sqlite import graph_rows, rows
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.adapters.sqlite.vectors import codes_to_blob
from kiro_learn.config import StorageConfig
from kiro_learn.model.buffer import BufferedEvent, BufferSize
from kiro_learn.model.embedding_model import ModelIdentity
from kiro_learn.model.graph import GraphKind, Says, Validity
from kiro_learn.model.history import Replacement, ReplacementReason
from kiro_learn.model.moment import to_text
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.model.record import KnowledgeType
from kiro_learn.model.told import ToldItem
from kiro_learn.model.usage import LlmUsage
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.ports.storage.graph import GraphWords
from kiro_learn.ports.storage.observations import RecordQuery
from kiro_learn.testing.storing import put_record, transact_one
from tests.unit.storage import contract_graph as graph
from tests.unit.storage.builders import DAWN, MINE, at, event, event_id, record, record_id, vector

Check = Callable[[SqliteStorage], Awaitable[None]]
Database = Callable[..., Callable[[Check], None]]


def insert(database: apsw.Connection, table: str, values: dict[str, Any]) -> None:
    known = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
    values = {name: value for name, value in values.items() if name in known}
    marks = ", ".join(f":{name}" for name in values)
    database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", values)  # noqa: S608  # names of ours


def fill(database: apsw.Connection) -> None:
    """Events 1 to 5, of which 2 and 3 wait and the others did; records 1 and 2, of which 1 has its vector."""
    insert(database, "namespaces", {"number": 1, "namespace": MINE, "last_record": 2})
    for number in range(1, 6):
        insert(database, "events", rows.from_event(event(number), transaction_time=DAWN))
        insert(database, "buffer", {"namespace_number": 1, "event_id": event_id(number), "size_bytes": number})
    database.execute("DELETE FROM buffer WHERE position NOT IN (2, 3)")
    for number in (1, 2):
        numbers = {"number": 1 << 32 | number, "namespace_number": 1}
        insert(database, "memory_records", rows.from_record(record(number)) | numbers)
    blob = vector(1).tobytes()
    database.execute("UPDATE memory_records SET embedding = ? WHERE record_id = ?", (blob, record_id(1)))
    database.execute(
        "CREATE VIRTUAL TABLE records_fts_1 USING fts5 (title, summary, facts, concepts, files, content = '',"
        " contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    for number in (1, 2):
        insert(database, "records_fts_1", {"rowid": 1 << 32 | number, "title": "a title", "summary": "a summary"})


OTHER_MODEL = ModelIdentity(name="other", digest="0" * 64, dimension=3)


def fill_passages(database: apsw.Connection) -> None:
    """Vectors of a passage of each record: of the first by the bundled model, of the second by another one."""
    other = {"number": 2, "digest": OTHER_MODEL.digest, "name": OTHER_MODEL.name, "dimension": OTHER_MODEL.dimension}
    insert(database, "embedding_models", other)
    blob = codes_to_blob(np.ones((1, DIMENSION), np.int8))
    database.execute("UPDATE memory_records SET passage_codes = ? WHERE record_id = ?", (blob, record_id(1)))
    numbers = {"model_number": 2, "number": 1 << 32 | 2}
    blob = codes_to_blob(np.ones((1, OTHER_MODEL.dimension), np.int8))
    insert(database, "model_embeddings", numbers | {"embedding": bytes(12), "passage_codes": blob})


def fill_graph(database: apsw.Connection) -> None:
    """Three facts of an entity: 1 holds, 2 was ended by event 5, and event 5 says of 3 that it never held."""
    sources: dict[int, dict[str, Any]] = {1: {}, 2: {"valid_until": at(5)}, 3: {"retired_at": at(5)}}
    kira = graph.entity(1)
    insert(database, "graph_entities", graph_rows.from_item(kira, namespace_number=1))
    for number, ends in sources.items():
        fact = graph.fact(number, kira, validity=Validity(observed_at=at(1), **ends))
        insert(database, "graph_facts", graph_rows.from_item(fact, namespace_number=1))
        for said in (1, 5) if ends else (1,):
            values = {
                "item_id": fact.item_id,
                "event_id": event_id(said),
                "observed_at": to_text(at(said)),
                "weight": 1.0,
            }
            insert(database, "graph_evidence", values)


def fill_told(database: apsw.Connection) -> None:
    """A session was told record 1 by its third prompt."""
    told = {"namespace_number": 1, "session_id": "s", "record_id": record_id(1), "prompt_number": 3}
    insert(database, "session_told", told)


@pytest.fixture
def at_version(tmp_path: Path) -> Database:
    """A database of a version, filled; brought up and opened for a check."""
    path = tmp_path / "earlier.db"

    async def scenario(check: Check) -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        await check(storage)
        await storage.close()
        database = apsw.Connection(str(path))
        assert not database.execute("PRAGMA foreign_key_check").fetchall()
        assert database.execute("PRAGMA integrity_check").get == "ok"

    def make(version: int, *, without: frozenset[int] = frozenset()) -> Callable[[Check], None]:
        database = apsw.Connection(str(path))
        earlier = [each for each in MIGRATIONS if each.version <= version and each.version not in without]
        migrate(database, earlier, utc_now=lambda: DAWN)
        fill(database)
        if version >= 23:
            fill_passages(database)
        if version == 28:
            fill_graph(database)
        if version == 31:
            fill_told(database)
        database.close()
        return lambda check: trio.run(scenario, check)

    return make


def test_records_of_version_13_can_make_way_and_come_back(at_version: Database) -> None:
    replacement = Replacement(
        replacement_id="one",
        namespace=MINE,
        reason=ReplacementReason.RELEARNED,
        replaced_at=at(9),
        replacing=(record_id(3),),
        replaced=(record(1), record(2)),
    )

    async def check(storage: SqliteStorage) -> None:
        await put_record(storage, record(3))
        await transact_one(storage, lambda tx: tx.replace_memory_records(replacement))
        assert await storage.list_replacements(record_id(3)) == (replacement,)
        await transact_one(storage, lambda tx: tx.undo_replacement(record_id(3)))
        kept = await storage.list_memory_records(namespace=MINE, limit=9, offset=0)
        assert kept.items == (record(2), record(1))
        assert (await storage.list_embeddings(MINE)).vectors.tobytes() == vector(1).tobytes()

    at_version(13)(check)


def test_version_14_takes_parked_clusters(at_version: Database) -> None:
    cluster = ParkedCluster(
        cluster_id="one", namespace=MINE, records=(record(7),), problem="full", attempt_count=1, retry_at=at(9)
    )

    async def check(storage: SqliteStorage) -> None:
        await transact_one(storage, lambda tx: tx.park_cluster(cluster))
        assert await storage.list_parked_clusters(MINE) == [cluster]

    at_version(14)(check)


def test_what_waited_in_version_15_waits_on_in_its_place(at_version: Database) -> None:
    """Position 5 was given, though its row is gone: the next is 6, or clearing could confuse the two."""

    async def check(storage: SqliteStorage) -> None:
        taken = await storage.snapshot_buffer(MINE, most_bytes=99)
        assert taken.entries == (BufferedEvent(event(2), 2, 2), BufferedEvent(event(3), 3, 3))
        assert await storage.list_buffers() == {MINE: BufferSize(2, 5)}
        await transact_one(storage, lambda tx: tx.put_event(event(8), size_bytes=1, buffered=True))
        assert (await storage.snapshot_buffer(MINE, most_bytes=99)).through == 6

    at_version(15)(check)


def test_a_buffer_of_version_15_that_is_empty_goes_on_counting(at_version: Database, tmp_path: Path) -> None:
    opened = at_version(15)
    database = apsw.Connection(str(tmp_path / "earlier.db"))
    database.execute("DELETE FROM buffer")
    database.close()

    async def check(storage: SqliteStorage) -> None:
        await transact_one(storage, lambda tx: tx.put_event(event(8), size_bytes=1, buffered=True))
        assert (await storage.snapshot_buffer(MINE, most_bytes=99)).through == 6

    opened(check)


def test_version_16_takes_books_on_models(at_version: Database) -> None:
    usage = LlmUsage(
        day=DAWN.date(),
        namespace=MINE,
        call_count=1,
        failure_count=0,
        characters_in=2,
        characters_out=3,
        seconds=0.5,
    )

    async def check(storage: SqliteStorage) -> None:
        await transact_one(storage, lambda tx: tx.add_llm_usage(usage))
        assert await storage.list_llm_usage(since=DAWN.date()) == [usage]

    at_version(16)(check)


def test_passages_of_version_24_are_embedded_again(at_version: Database) -> None:
    async def check(storage: SqliteStorage) -> None:
        assert await storage.get_passages([record_id(1)]) == {}
        assert await storage.get_passages([record_id(2)], OTHER_MODEL) == {}
        assert await storage.list_without_passages(9) == [record(1)]
        assert (await storage.list_embeddings(MINE)).vectors.tobytes() == vector(1).tobytes()

    at_version(24)(check)


def test_a_database_that_took_27_before_25_and_26_takes_these_two(at_version: Database) -> None:
    """As one does that was upgraded by a version between the two."""
    captured = attrs.evolve(record(3), capture_type="command", text="make", knowledge_type=KnowledgeType.DECISION)

    async def check(storage: SqliteStorage) -> None:
        await put_record(storage, captured)
        known = RecordQuery(namespace=MINE, limit=9, only_knowledge=True)
        assert await storage.list_records(known) == [captured]
        assert await storage.list_records(RecordQuery(namespace=MINE, limit=9)) == [captured, record(2), record(1)]

    at_version(27, without=frozenset({25, 26}))(check)


def test_what_ended_in_the_graph_of_version_28_is_known_by_the_event_that_ended_it(at_version: Database) -> None:
    ids = [graph.item_id(GraphKind.FACT, number) for number in (1, 2, 3)]

    async def check(storage: SqliteStorage) -> None:
        found = await storage.get_graph_evidence(ids)
        said = [[each.says for each in found[item_id]] for item_id in ids]
        assert said == [[Says.HOLDS], [Says.HOLDS, Says.ENDED], [Says.HOLDS, Says.NEVER]]
        assert found[ids[1]][1].valid_until == at(5)
        words = GraphWords(namespace=MINE, words=("value",), limits={GraphKind.FACT: 9})
        assert await storage.search_graph_words(words) == {GraphKind.FACT: ids[:1]}

    at_version(28)(check)


def test_what_sessions_of_version_31_were_told_stays_and_items_of_the_graph_can_be_told_too(
    at_version: Database,
) -> None:
    kira = graph.entity(1, "Kira")

    async def check(storage: SqliteStorage) -> None:
        before = ToldItem(namespace=MINE, session_id="s", item_id=record_id(1), prompt_number=3)
        assert await storage.list_told() == [before]
        await transact_one(storage, lambda tx: tx.put_graph_items([kira]))
        await transact_one(storage, lambda tx: tx.put_told(MINE, "s", [kira.item_id], prompt_number=4))
        assert await storage.list_told() == [before, attrs.evolve(before, item_id=kira.item_id, prompt_number=4)]
        await transact_one(storage, lambda tx: tx.delete_graph_items([kira.item_id]))
        assert await storage.list_told() == [before]

    at_version(31)(check)
