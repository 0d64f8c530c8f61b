"""A damaged row of the graph is lost with a warning; the rest of its project's graph is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.config import StorageConfig
from kiro_learn.model.graph import Evidence, GraphItemId, GraphKind, kind_of
from kiro_learn.ports.storage.graph import GraphList, GraphWalk, GraphWords
from kiro_learn.testing.storage import transact_one
from tests.unit.storage.builders import DAWN, MINE, event_id, vector
from tests.unit.storage.contract_graph import edge, entity, fact, preference, procedure

KIRA, VERCEL = entity(1, "Kira"), entity(2, "Vercel")
ITEMS = (
    *(KIRA, VERCEL, entity(3, "Netlify"), edge(1, KIRA, VERCEL), fact(1, KIRA, "Vercel"), fact(2, KIRA, "Netlify")),
    *(procedure(1), procedure(2, name="Release"), preference(1), preference(2, key="shell")),
)


def after(path: Path, damage: Mapping[str, str], scenario: Callable[[SqliteStorage], Awaitable[None]]) -> None:
    """Put all items, damage each by a statement, by the item's id, that no check refuses; then run ``scenario``."""

    async def run() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(reader_count=1), utc_now=lambda: DAWN)
        await transact_one(storage, lambda transaction: transaction.put_graph_items(ITEMS))
        evidence = [Evidence(item.item_id, event_id(1), DAWN) for item in ITEMS]
        await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
        vectors = [(GraphItemId(each.item_id), vector(1)) for each in (KIRA, VERCEL, fact(1, KIRA))]
        await transact_one(storage, lambda transaction: transaction.put_graph_vectors("m", vectors))
        with apsw.Connection(str(path)) as connection:
            connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            for statement, item_id in damage.items():
                connection.execute(statement, {"id": item_id})
        await scenario(storage)
        await storage.close()

    trio.run(run)


DAMAGES = {
    "a time": "UPDATE graph_facts SET observed_at = 'yesterday' WHERE id = :id",
    "no day": "UPDATE graph_facts SET valid_from = '2026-02-30T00:00:00Z' WHERE id = :id",
    "a source": "UPDATE graph_facts SET source_type = 'gossip' WHERE id = :id",
    "a confidence": "UPDATE graph_facts SET confidence = 9e999 WHERE id = :id",
    "an entity that is no id": "UPDATE graph_facts SET entity_id = 'nonsense' WHERE id = :id",
    "text that is not UTF-8": "UPDATE graph_facts SET object = CAST(x'ff00ff' AS TEXT) WHERE id = :id",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_fact_is_left_out_of_every_read_and_can_be_forgotten(tmp_path: Path, damage: str) -> None:
    bad, good = fact(1, KIRA).item_id, fact(2, KIRA).item_id

    async def scenario(storage: SqliteStorage) -> None:
        everything = GraphList(namespace=MINE, kind=GraphKind.FACT, limit=9, only_current=False)
        assert [item.item_id for item in await storage.list_graph_items(everything)] == [good]
        assert set(await storage.get_graph_items(MINE, [bad, good])) == {good}
        walked = await storage.walk_graph(GraphWalk(namespace=MINE, seeds=(KIRA.item_id,)))
        assert bad not in {each.item.item_id for each in walked}
        await storage.search_graph_words(GraphWords(namespace=MINE, words=("kira",), limits={GraphKind.FACT: 9}))
        waiting = await storage.list_graph_items_without_vector("other", limit=99)
        assert {good, KIRA.item_id} <= {item.item_id for item in waiting}
        found = await transact_one(storage, lambda tx: tx.find_facts(MINE, objects=["value"]))
        assert bad not in {item.item_id for item in found}
        assert await transact_one(storage, lambda tx: tx.forget_graph_item(MINE, bad))
        assert not await transact_one(storage, lambda tx: tx.forget_graph_item(MINE, bad))

    after(tmp_path / "test.db", {damage: bad}, scenario)


OTHER_DAMAGES = {
    VERCEL.item_id: "UPDATE graph_entities SET aliases_json = '{' WHERE id = :id",
    procedure(1).item_id: "UPDATE graph_procedures SET steps_json = '[1, 2' WHERE id = :id",
    preference(1).item_id: "UPDATE graph_preferences SET category = 'x' WHERE id = :id",
    edge(1, KIRA, VERCEL).item_id: "UPDATE graph_relationships SET observed_at = '' WHERE id = :id",
}


@pytest.mark.parametrize("item_id", OTHER_DAMAGES)
def test_a_damaged_item_of_any_kind_is_left_out_and_noted(tmp_path: Path, item_id: GraphItemId) -> None:
    kind = kind_of(item_id)
    assert kind is not None

    async def scenario(storage: SqliteStorage) -> None:
        listed = await storage.list_graph_items(GraphList(namespace=MINE, kind=kind, limit=9))
        known = {item.item_id for item in ITEMS if kind_of(item.item_id) is kind}
        assert {item.item_id for item in listed} == known - {item_id}
        assert await storage.list_damaged() == (item_id,)

    after(tmp_path / "test.db", {OTHER_DAMAGES[item_id]: item_id}, scenario)


@pytest.mark.parametrize("length", ["0", "2"])
def test_where_no_vector_can_be_read_there_are_none(tmp_path: Path, length: str) -> None:
    async def scenario(storage: SqliteStorage) -> None:
        loaded = await storage.load_graph_vectors(MINE, "m", after=0)
        assert (loaded.item_ids, loaded.total, loaded.through) == ((), 0, 3)

    after(tmp_path / "test.db", {"UPDATE graph_vectors SET vector = zeroblob(:id)": length}, scenario)


def test_a_vector_that_is_too_short_and_evidence_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    damage = {
        "UPDATE graph_vectors SET vector = x'0102' WHERE item_id = :id": VERCEL.item_id,
        "UPDATE graph_evidence SET says = 'maybe' WHERE item_id = :id": KIRA.item_id,
    }

    async def scenario(storage: SqliteStorage) -> None:
        loaded = await storage.load_graph_vectors(MINE, "m", after=0)
        assert (loaded.item_ids, loaded.total) == ((KIRA.item_id, fact(1, KIRA).item_id), 2)
        ids = [KIRA.item_id, VERCEL.item_id]
        found = await storage.get_graph_evidence(ids)
        assert [len(found[item_id]) for item_id in ids] == [0, 1]
        assert set(await storage.list_damaged()) == {*ids}

    after(tmp_path / "test.db", damage, scenario)
