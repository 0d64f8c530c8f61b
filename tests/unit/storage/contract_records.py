from __future__ import annotations

from functools import partial

import attrs
import numpy as np

from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import CapturedRecord, content_hash
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin, RecordDetails, RecordFilter
from kiro_learn.model.retrieval import RankingFeatures
from kiro_learn.model.statistics import EmbeddingCounts, Stats
from kiro_learn.model.vectors import DIMENSION, Parts
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.testing.storage import delete_records, put_event, put_record, search_records, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, event, event_id, parts, record, record_id, vector
from tests.unit.storage.contract import promise


@promise
async def a_record_comes_back_as_it_was_put(storage: StorageBackend) -> None:
    put = record(
        1,
        "tïtle",
        facts=("a fact", 'with "quotes"\nand lines'),
        concepts=("pooling",),
        files_touched=("a.py",),
        files_read=("b.py",),
        files_modified=("a.py",),
        knowledge_type=KnowledgeType.CONSTRAINT,
        importance=7,
        origin=Origin.USER,
        stale_at=at(99),
        capture_type="file-write",
        text="tool öutput\n\nof two lines",
        details=RecordDetails(severity="soft", reason="it is so", alternatives=("this", "that")),
        branch="feature/basket",
    )
    await put_record(storage, put)
    assert await storage.get_memory_records([put.record_id]) == [put]


@promise
async def records_come_in_the_order_asked_for_without_the_unknown(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        await put_record(storage, record(number))
    found = await storage.get_memory_records([record_id(3), record_id(9), record_id(1)])
    assert [item.record_id for item in found] == [record_id(3), record_id(1)]


@promise
async def ids_are_found_by_their_end_in_one_project_the_newest_first(storage: StorageBackend) -> None:
    ends = {number: f"mr_{number:020d}K7Q4M2" for number in (1, 2, 3)} | {4: "mr_00000000000000000004K7Q4M3"}
    for number, each in ends.items():
        await put_record(storage, record(number, record_id=RecordId(each), created_at=at(number)))
    await put_record(storage, record(9, record_id=RecordId(f"mr_{9:020d}K7Q4M2"), namespace=OTHERS))
    assert await storage.find_record_ids(MINE, "K7Q4M2", 9) == [ends[3], ends[2], ends[1]]
    assert await storage.find_record_ids(MINE, "K7Q4M2", 2) == [ends[3], ends[2]]
    assert await storage.find_record_ids(MINE, "7Q4M3", 9) == [ends[4]]
    assert await storage.find_record_ids(MINE, "%", 9) == []


@promise
async def a_features_is_the_text_and_the_place_of_the_first_event(storage: StorageBackend) -> None:
    await put_event(storage, event(1, session_id="dawn", valid_time=at(3)))
    cited = (event_id(1), event_id(2))
    await put_record(storage, record(1, "Title", facts=("a Fact",), concepts=("a word",), source_event_ids=cited))
    ranking_features = await storage.get_ranking_features([record_id(1), record_id(9)])
    assert ranking_features == {record_id(1): RankingFeatures("title\na summary\na fact\na word", "dawn", at(3))}


@promise
async def an_event_that_is_unknown_or_of_another_namespace_gives_no_session(storage: StorageBackend) -> None:
    await put_event(storage, event(1, namespace=OTHERS))
    await put_record(storage, record(1))
    await put_record(storage, record(2))
    found = (await storage.get_ranking_features([record_id(1), record_id(2)])).values()
    assert [(features.session_id, features.said_at) for features in found] == [(None, None)] * 2


@promise
async def a_features_that_was_read_goes_with_its_record(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_record(storage, record(1, "before"))
    assert len(await storage.get_ranking_features([record_id(1)])) == 1
    await delete_records(storage, [record_id(1)])
    assert await storage.get_ranking_features([record_id(1)]) == {}
    await put_record(storage, record(1, "after"))
    assert (await storage.get_ranking_features([record_id(1)]))[record_id(1)].text.startswith("after")


@promise
async def records_are_listed_newest_first(storage: StorageBackend) -> None:
    for number, minute in ((1, 5), (2, 7), (3, 5)):
        await put_record(storage, record(number, created_at=at(minute)))
    await put_record(storage, record(4, namespace=OTHERS, created_at=at(6)))
    mine = await storage.list_memory_records(namespace=MINE, limit=2, offset=1)
    assert ([item.record_id for item in mine.items], mine.total) == ([record_id(3), record_id(1)], 3)
    every = await storage.list_memory_records(namespace=None, limit=9, offset=0)
    assert ([item.record_id for item in every.items], every.total) == ([record_id(n) for n in (2, 4, 3, 1)], 4)


@promise
async def vectors_are_listed_oldest_record_first_bit_for_bit(storage: StorageBackend) -> None:
    odd = vector(1)
    odd.view(np.uint32)[:4] = (0x7FC00001, 0xFFC12345, 0x80000000, 0x00000001)  # NaNs with a payload, -0, a subnormal
    for number, minute in ((1, 5), (2, 1), (3, 9)):
        await put_record(storage, record(number, created_at=at(minute)))

    def embed(tx: StorageTransaction) -> None:
        tx.put_embedding(record_id(1), odd[np.newaxis])
        tx.put_embedding(record_id(2), parts(2))

    await transact_one(storage, embed)
    table = await storage.list_embeddings(MINE)
    assert table.record_ids == (record_id(2), record_id(1))
    assert table.created_ats == (at(1), at(5))
    assert table.vectors.tobytes() == vector(2).tobytes() + odd.tobytes()


def _put_parts(tx: StorageTransaction, *, number: int, embedding: Parts) -> None:
    tx.put_embedding(record_id(number), embedding)


@promise
async def the_vectors_of_a_long_record_stand_together_in_order(storage: StorageBackend) -> None:
    for number, embedding in ((1, parts(1, 2, 3)), (2, parts(4)), (3, parts(5, 6))):
        await put_record(storage, record(number))
        await transact_one(storage, partial(_put_parts, number=number, embedding=embedding))
    table = await storage.list_embeddings(MINE)
    assert table.record_ids == (record_id(1), record_id(2), record_id(3))
    assert table.row_counts == (3, 1, 2)
    assert table.vectors.tobytes() == parts(1, 2, 3, 4, 5, 6).tobytes()
    assert await storage.count_embeddings(MINE) == EmbeddingCounts(total=3, embedded=3, set_aside=0)


@promise
async def a_namespace_without_vectors_has_an_empty_table(storage: StorageBackend) -> None:
    table = await storage.list_embeddings(MINE)
    assert (table.record_ids, table.row_counts, table.vectors.shape) == ((), (), (0, DIMENSION))
    assert table.vectors.dtype == np.float32


@promise
async def a_vector_put_again_replaces_the_first(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    for seeds in ((1,), (2, 3), (4,)):
        await transact_one(storage, lambda tx, seeds=seeds: tx.put_embedding(record_id(1), parts(*seeds)))  # type: ignore[misc]  # mypy cannot infer it
        assert (await storage.list_embeddings(MINE)).vectors.tobytes() == parts(*seeds).tobytes()


@promise
async def what_waits_for_a_vector_is_listed_newest_first_over_all_namespaces(storage: StorageBackend) -> None:
    for number, namespace in ((1, MINE), (2, OTHERS), (3, MINE), (4, MINE)):
        await put_record(storage, record(number, namespace=namespace))

    def progress(tx: StorageTransaction) -> None:
        tx.put_embedding(record_id(3), parts(3))
        tx.set_embedding_aside(record_id(4), "too odd")
        tx.set_embedding_aside(record_id(9), "unknown")

    await transact_one(storage, progress)
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(2), record_id(1)]
    assert [item.record_id for item in await storage.list_unembedded(1)] == [record_id(2)]
    assert await storage.count_embeddings(MINE) == EmbeddingCounts(total=3, embedded=1, set_aside=1)
    assert await storage.count_embeddings(None) == EmbeddingCounts(total=4, embedded=1, set_aside=1)


@promise
async def a_vector_ends_being_set_aside_and_prevents_it(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await transact_one(storage, lambda tx: tx.set_embedding_aside(record_id(1), "too odd"))
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
    await transact_one(storage, lambda tx: tx.set_embedding_aside(record_id(1), "too late"))
    assert await storage.count_embeddings(MINE) == EmbeddingCounts(total=1, embedded=1, set_aside=0)


@promise
async def statistics_of_a_namespace_count_it_alone(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_event(storage, event(2, kind=EventKind.TOOL_USE, namespace=OTHERS))
    await put_record(storage, record(1, concepts=("one", "two")))
    await put_record(storage, record(2, concepts=("two",), observation_type=ObservationType.ERROR))
    assert await storage.get_stats(MINE) == Stats(
        total_events=1,
        total_memories=2,
        total_projects=1,
        total_concepts=2,
        observation_types={"discovery": 1, "error": 1},
        event_kinds={"prompt": 1},
    )
    every = await storage.get_stats(None)
    assert (every.total_projects, every.event_kinds) == (2, {"prompt": 1, "tool_use": 1})


@promise
async def an_unknown_namespace_counts_nothing(storage: StorageBackend) -> None:
    assert await storage.get_stats(MINE) == Stats(0, 0, 0, 0, {}, {})
    assert await storage.count_embeddings(MINE) == EmbeddingCounts(0, 0, 0)
    assert await storage.list_projects() == []


@promise
async def a_captured_text_is_found_by_its_words(storage: StorageBackend) -> None:
    await put_record(storage, record(1, capture_type="command", text="the zebra crossed"))
    await put_record(storage, record(2))
    found = await search_records(storage, SearchParams(MINE, "zebra", limit=5))
    assert [each.record_id for each in found] == [record_id(1)]


@promise
async def what_is_alike_has_the_hash_and_is_inside_the_window(storage: StorageBackend) -> None:
    for number in (1, 2, 3):
        await put_record(storage, record(number, capture_type="command"))
    await put_record(storage, record(4, capture_type="research"))
    await put_record(storage, record(5, capture_type="command", namespace=OTHERS))
    await put_record(storage, record(6))
    digest = content_hash(record(1, capture_type="command"))
    assert digest is not None

    async def alike(after: float, before: float, limit: int = 9) -> list[RecordId]:
        def ask(tx: StorageTransaction) -> list[CapturedRecord]:
            return tx.list_alike(MINE, digest, after=at(after), before=at(before), limit=limit)

        return [each.record.record_id for each in await transact_one(storage, ask)]

    assert await alike(0, 9) == [record_id(3), record_id(2), record_id(1)]
    assert await alike(0, 9, limit=2) == [record_id(3), record_id(2)]
    assert [await alike(*window) for window in [(0, 3), (2, 3), (1, 3), (3, 9)]] == [
        [record_id(2), record_id(1)],
        [],
        [record_id(2)],
        [],
    ]
    await delete_records(storage, [record_id(3)])
    assert await alike(0, 9, limit=1) == [record_id(2)]


@promise
async def what_is_alike_has_the_session_of_its_event_if_it_was_given_one(storage: StorageBackend) -> None:
    own, named = event(1), event(2, session_id="s-2")
    for reported in (attrs.evolve(own, session_id=own.event_id), named):
        await put_event(storage, reported)
    for number in (1, 2, 3):
        await put_record(storage, record(number, capture_type="command"))
    digest = content_hash(record(1, capture_type="command"))
    assert digest is not None

    def ask(tx: StorageTransaction) -> list[CapturedRecord]:
        return tx.list_alike(MINE, digest, after=at(0), before=at(9), limit=9)

    sessions = {each.record.record_id: each.session for each in await transact_one(storage, ask)}
    assert sessions == {record_id(1): None, record_id(2): "s-2", record_id(3): None}


@promise
async def the_teachers_of_a_record_are_the_actors_of_its_events_that_are_stored(storage: StorageBackend) -> None:
    for number, actor_id in ((1, "ann"), (2, "bob"), (3, "bob")):
        await put_event(storage, event(number, actor_id=actor_id))
    cited = {1: (1, 2), 2: (2, 3), 3: (3, 99), 4: (98, 99)}
    for number, events in cited.items():
        await put_record(storage, record(number, source_event_ids=tuple(map(event_id, events))))
    assert await storage.list_teachers([record_id(number) for number in (1, 2, 3, 4, 5)]) == {
        record_id(1): frozenset({"ann", "bob"}),
        record_id(2): frozenset({"bob"}),
        record_id(3): frozenset({"bob"}),
    }
    assert await storage.list_teachers([]) == {}


@promise
async def what_is_withdrawn_is_gone_and_may_come_again(storage: StorageBackend) -> None:
    shared, own, unknown = record(1, "Deploy on Fridays"), record(2, "Deploy on Mondays"), record(3, "Deploy never")
    for each in (shared, own):
        await put_record(storage, each)

    await transact_one(storage, lambda transaction: transaction.withdraw_memory_records([shared, unknown]))
    assert await storage.get_memory_records([record_id(1), record_id(2)]) == [own]
    assert await search_records(storage, SearchParams(MINE, "Fridays", limit=9)) == []

    assert not await transact_one(storage, lambda transaction: transaction.is_forgotten(shared))
    await put_record(storage, shared)
    assert await search_records(storage, SearchParams(MINE, "Fridays", limit=9)) == [shared]


@promise
async def a_filter_knows_the_strategy_of_a_record(storage: StorageBackend) -> None:
    for number, strategy in ((1, "shared"), (2, "extractive")):
        await put_record(storage, record(number, strategy=strategy))
    await put_record(storage, record(3, strategy="shared", namespace=OTHERS))

    async def listed(namespace: Namespace | None) -> list[str]:
        wanted = RecordQuery(namespace=namespace, limit=9, filter=RecordFilter(strategy="shared"))
        return sorted(each.record_id for each in await storage.list_records(wanted))

    assert (await listed(MINE), await listed(None)) == ([record_id(1)], [record_id(1), record_id(3)])
