from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest

from kiro_learn.errors import StorageError
from kiro_learn.model.graph import (
    Compression,
    Entity,
    EntityType,
    Episode,
    EpisodeOutcome,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Preference,
    PreferenceCategory,
    Procedure,
    Relationship,
    SourceType,
    Validity,
)
from kiro_learn.ports.storage.graph import GraphList, GraphWalk, GraphWords
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.testing.storing import put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event, event_id, record, record_id
from tests.unit.storage.contract import promise


def item_id(kind: GraphKind, number: int) -> GraphItemId:
    return GraphItemId(f"{kind.id_prefix}{number:026}")


def entity(number: int, name: str = "", **values: Any) -> Entity:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.ENTITY, number),
        "namespace": MINE,
        "name": name or f"thing {number}",
        "type": EntityType.TOOL,
        "first_seen": DAWN,
        "last_referenced": at(number),
    }
    return Entity(**defaults | values)


def fact(number: int, about: Entity, object_: str = "a value", **values: Any) -> Fact:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.FACT, number),
        "namespace": about.namespace,
        "entity_id": about.item_id,
        "subject": about.name,
        "predicate": "runs_on",
        "object": object_,
        "last_confirmed_at": DAWN,
        "validity": Validity(observed_at=DAWN),
    }
    return Fact(**defaults | values)


def edge(number: int, source: Entity, target: Entity, **values: Any) -> Relationship:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.RELATIONSHIP, number),
        "namespace": source.namespace,
        "source_id": source.item_id,
        "target_id": target.item_id,
        "type": "uses",
        "validity": Validity(observed_at=DAWN),
    }
    return Relationship(**defaults | values)


def procedure(number: int, **values: Any) -> Procedure:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.PROCEDURE, number),
        "namespace": MINE,
        "name": "Deploy",
        "trigger": "when a release is due",
        "steps": ("run tests", "push"),
        "created_at": DAWN,
    }
    return Procedure(**defaults | values)


def preference(number: int, **values: Any) -> Preference:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.PREFERENCE, number),
        "namespace": MINE,
        "category": PreferenceCategory.TOOLS,
        "key": "editor",
        "value": "neovim",
        "last_confirmed_at": DAWN,
        "validity": Validity(observed_at=DAWN),
    }
    return Preference(**defaults | values)


def episode(number: int, summary: str = "deployed the app", **values: Any) -> Episode:
    defaults: dict[str, Any] = {
        "item_id": item_id(GraphKind.EPISODE, number),
        "namespace": MINE,
        "session_id": "session",
        "happened_at": at(number),
        "summary": summary,
        "compacted_at": at(number),
    }
    return Episode(**defaults | values)


KIRA, VERCEL, OTTO = entity(1, "Kira", aliases=("the app",)), entity(2, "Vercel"), entity(3, "Otto")


async def put(storage: StorageBackend, *items: GraphItem) -> None:
    await transact_one(storage, lambda transaction: transaction.put_graph_items(items))


async def listed(storage: StorageBackend, kind: GraphKind, **values: Any) -> list[GraphItem]:
    defaults: dict[str, Any] = {"namespace": MINE, "kind": kind, "limit": 99}
    return await storage.list_graph_items(GraphList(**defaults | values))


@promise
async def every_kind_of_item_comes_back_as_it_was(storage: StorageBackend) -> None:
    closed = Validity(valid_from=at(1), valid_until=at(2), observed_at=at(3), retired_at=at(4))
    items: list[GraphItem] = [
        entity(1, "Kira", type=EntityType.PROJECT, aliases=("K", "ké"), description="d", importance=7, mention_count=3),
        VERCEL,
        fact(1, KIRA, confidence=0.5, source_type=SourceType.CORRECTED, validity=closed, is_candidate=True),
        fact(2, KIRA, superseded_by=item_id(GraphKind.FACT, 1)),
        edge(1, KIRA, VERCEL, validity=closed, confidence=0.25),
        procedure(1, success_count=2, last_used=at(5), last_outcome=EpisodeOutcome.PARTIAL, version=3),
        preference(1, strength=0.75, evidence_count=4, validity=closed),
        episode(
            1, tags=("a", "b"), outcome=EpisodeOutcome.SUCCESS, compression=Compression.DISTILLED, expires_at=at(9)
        ),
    ]
    await put(storage, *items)
    found = await storage.get_graph_items(MINE, [item.item_id for item in items])
    assert list(found.values()) == items
    assert await storage.get_graph_items(OTHERS, [item.item_id for item in items]) == {}


@promise
async def an_item_put_again_takes_the_place_of_what_had_its_id(storage: StorageBackend) -> None:
    await put(storage, KIRA)
    await put(storage, entity(1, "Kira", aliases=("k2",)))
    assert [each.names for each in await storage.list_entity_names(MINE)] == [("Kira", "k2")]
    with pytest.raises(StorageError, match="of another project"):
        await put(storage, entity(1, "Kira", namespace=OTHERS))


@promise
async def a_fact_about_no_entity_and_a_second_entity_of_one_name_are_refused(storage: StorageBackend) -> None:
    with pytest.raises(StorageError, match="not there"):
        await put(storage, fact(1, KIRA))
    await put(storage, fact(1, KIRA), KIRA)
    with pytest.raises(StorageError, match="name and type"):
        await put(storage, entity(9, "KIRA"))
    await put(storage, entity(9, "KIRA", type=EntityType.PERSON))


@promise
async def an_entity_is_found_by_its_names_whatever_their_case(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, entity(4, "kira", namespace=OTHERS))

    def found(*names: str) -> Any:
        return transact_one(storage, lambda transaction: transaction.find_entities(MINE, names))

    assert await found("KIRA") == [KIRA]
    assert await found("The  APP", "vercel", "nothing") == [KIRA, VERCEL]
    assert await found() == []


@promise
async def a_transaction_finds_facts_of_entities_and_current_preferences(storage: StorageBackend) -> None:
    old = preference(1, validity=Validity(observed_at=DAWN, valid_until=at(1)))
    gone = fact(2, KIRA, validity=Validity(observed_at=DAWN, valid_until=at(1)))
    await put(storage, KIRA, VERCEL, OTTO, fact(1, VERCEL), gone, edge(1, OTTO, KIRA), old, preference(2))

    def found(kind: GraphKind, *about: Entity) -> Any:
        ids = [each.item_id for each in about]
        return transact_one(storage, lambda transaction: transaction.find_graph_items(MINE, kind, ids))

    assert await found(GraphKind.FACT, KIRA) == [gone]
    assert await found(GraphKind.FACT, KIRA, VERCEL) == [fact(1, VERCEL), gone]
    assert await found(GraphKind.RELATIONSHIP, KIRA) == [edge(1, OTTO, KIRA)]
    assert await found(GraphKind.PREFERENCE) == [preference(2)]


@promise
async def evidence_counts_once_for_each_event(storage: StorageBackend) -> None:
    await put(storage, KIRA)
    first, second = (Evidence(KIRA.item_id, event_id(number), at(number)) for number in (1, 2))

    def add(*evidence: Evidence) -> Any:
        return transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))

    assert await add(second) == [second]
    assert await add(first, second, first) == [first]
    assert await storage.get_graph_evidence([KIRA.item_id]) == {KIRA.item_id: (first, second)}
    asked = [event_id(1), event_id(9)]
    assert await transact_one(storage, lambda transaction: transaction.find_graph_events(asked)) == {event_id(1)}
    ids = [KIRA.item_id, VERCEL.item_id]
    counted = await transact_one(storage, lambda transaction: transaction.count_graph_evidence(ids))
    assert counted == {KIRA.item_id: 2}


@promise
async def every_change_of_a_graph_counts_its_generation_up(storage: StorageBackend) -> None:
    seen = [await storage.get_graph_generation(MINE)]

    async def changed() -> bool:
        seen.append(await storage.get_graph_generation(MINE))
        return seen[-1] > seen[-2]

    await put(storage, KIRA, VERCEL)
    assert await changed()
    await put(storage, entity(8, namespace=OTHERS))
    assert not await changed()
    evidence = [Evidence(KIRA.item_id, event_id(1), DAWN)]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    assert await changed()
    vectors = [(KIRA.item_id, np.ones(4, dtype=np.float32))]
    await transact_one(storage, lambda transaction: transaction.put_graph_vectors("m", vectors))
    assert await changed()
    await transact_one(storage, lambda transaction: transaction.delete_graph_items([KIRA.item_id]))
    assert await changed()


@promise
async def words_find_each_kind_within_its_limit(storage: StorageBackend) -> None:
    told = fact(1, KIRA, "vercel edge")
    closed = fact(2, KIRA, "vercel once", validity=Validity(observed_at=DAWN, valid_until=at(5)))
    await put(storage, KIRA, VERCEL, entity(7, "vercel", namespace=OTHERS), told, closed)
    await put(storage, episode(1, "vercel one"), episode(2, "vercel two"), procedure(1, name="vercel deploy"))

    async def found(*words: str, limit: int = 9, **values: Any) -> dict[GraphKind, list[GraphItemId]]:
        kinds = (GraphKind.ENTITY, GraphKind.FACT, GraphKind.EPISODE, GraphKind.PROCEDURE)
        return await storage.search_graph_words(
            GraphWords(namespace=MINE, words=words, limits=dict.fromkeys(kinds, limit), **values)
        )

    all_kinds = await found("vercel")
    assert all_kinds[GraphKind.ENTITY] == [VERCEL.item_id]
    assert all_kinds[GraphKind.FACT] == [told.item_id]
    assert sorted(all_kinds[GraphKind.EPISODE]) == [episode(1).item_id, episode(2).item_id]
    assert all_kinds[GraphKind.PROCEDURE] == [procedure(1).item_id]
    assert (await found("vercel", "two"))[GraphKind.EPISODE][0] == episode(2).item_id
    assert len((await found("vercel", limit=1))[GraphKind.EPISODE]) == 1
    assert (await found("vercel", happened=(at(2), None)))[GraphKind.EPISODE] == [episode(2).item_id]
    assert (await found("vercel", happened=(None, at(2))))[GraphKind.EPISODE] == [episode(1).item_id]
    assert set((await found("vercel", as_of=at(4)))[GraphKind.FACT]) == {told.item_id, closed.item_id}
    assert (await found("nowhere"))[GraphKind.FACT] == []


@promise
async def no_word_breaks_the_search(storage: StorageBackend) -> None:
    await put(storage, KIRA)
    for word in ('"', "don't deploy", "C++ AND", "NOT(", "*", "a" * 5000, "\0", "node.js", "-", "name:kira"):
        search = GraphWords(namespace=MINE, words=(word, "kira"), limits={GraphKind.ENTITY: 5})
        assert (await storage.search_graph_words(search))[GraphKind.ENTITY] == [KIRA.item_id]


@promise
async def a_walk_goes_both_ways_from_all_seeds_at_once(storage: StorageBackend) -> None:
    far, beyond = entity(4), entity(5)
    weak, gone = entity(6), entity(7)
    await put(storage, KIRA, VERCEL, OTTO, far, beyond, weak, gone)
    closed = Validity(observed_at=DAWN, valid_until=at(5))
    await put(
        storage,
        edge(1, KIRA, VERCEL, confidence=0.9),
        edge(2, OTTO, KIRA),
        edge(3, OTTO, far),
        edge(4, far, beyond),
        edge(5, KIRA, weak, confidence=0.3),
        edge(6, KIRA, gone, validity=closed),
        fact(1, OTTO, confidence=0.5),
        fact(2, KIRA, validity=closed),
    )

    async def depths(*seeds: Entity, **values: Any) -> dict[GraphItemId, int]:
        ids = tuple(seed.item_id for seed in seeds)
        return {
            each.item.item_id: each.depth
            for each in await storage.walk_graph(GraphWalk(namespace=MINE, seeds=ids, **values))
        }

    edges = [item_id(GraphKind.RELATIONSHIP, number) for number in range(7)]
    assert await depths(KIRA) == {
        KIRA.item_id: 0,
        edges[2]: 0,
        edges[1]: 0,
        OTTO.item_id: 1,
        VERCEL.item_id: 1,
        edges[3]: 1,
        fact(1, OTTO).item_id: 1,
        far.item_id: 2,
        edges[4]: 2,
    }
    assert beyond.item_id not in await depths(KIRA)
    assert (await depths(KIRA, far))[far.item_id] == 0
    assert gone.item_id in await depths(KIRA, as_of=at(4))
    assert fact(2, KIRA).item_id in await depths(KIRA, as_of=at(4))
    assert len(await depths(KIRA, per_node=1, depth=0)) == 2
    assert await depths(entity(9)) == {}
    assert set(await depths(KIRA, most_entities=1)) == {KIRA.item_id, edges[1], edges[2]}


@promise
async def a_walk_counts_the_edges_of_an_entity(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, OTTO, edge(1, KIRA, VERCEL), edge(2, OTTO, KIRA))
    reached = await storage.walk_graph(GraphWalk(namespace=MINE, seeds=(KIRA.item_id,), per_node=1))
    assert reached[0].item == KIRA
    assert reached[0].degree == 2


@promise
async def lists_are_filtered_and_paged(storage: StorageBackend) -> None:
    closed = Validity(observed_at=DAWN, valid_from=at(1), valid_until=at(5))
    old, candidate = fact(2, KIRA, "Netlify", validity=closed), fact(3, KIRA, is_candidate=True)
    await put(storage, KIRA, VERCEL, fact(1, KIRA, "Vercel"), old, candidate, fact(4, VERCEL))
    everything = [fact(4, VERCEL), candidate, old, fact(1, KIRA, "Vercel")]
    assert await listed(storage, GraphKind.FACT) == [fact(4, VERCEL), fact(1, KIRA, "Vercel")]
    assert await listed(storage, GraphKind.FACT, only_current=False) == everything
    assert await listed(storage, GraphKind.FACT, only_current=False, limit=2) == everything[:2]
    after = {"only_current": False, "before": candidate.item_id}
    assert await listed(storage, GraphKind.FACT, **after) == everything[2:]
    assert await listed(storage, GraphKind.FACT, about=KIRA.item_id) == [fact(1, KIRA, "Vercel")]
    assert await listed(storage, GraphKind.FACT, as_of=at(3), text="netLIFY") == [old]
    assert await listed(storage, GraphKind.FACT, namespace=OTHERS) == []
    assert await listed(storage, GraphKind.ENTITY, text="APP") == [KIRA]
    assert (await storage.count_graph_items(MINE))[GraphKind.FACT] == 2


@promise
async def deleting_an_entity_deletes_what_is_said_of_it(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, fact(1, KIRA), edge(1, VERCEL, KIRA), fact(2, VERCEL))
    evidence = [Evidence(fact(1, KIRA).item_id, event_id(1), DAWN)]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    ids = [KIRA.item_id, entity(9).item_id]
    assert await transact_one(storage, lambda transaction: transaction.delete_graph_items(ids)) == 1
    assert await listed(storage, GraphKind.FACT) == [fact(2, VERCEL)]
    assert await listed(storage, GraphKind.RELATIONSHIP) == []
    assert await storage.get_graph_evidence([fact(1, KIRA).item_id]) == {fact(1, KIRA).item_id: ()}
    found = await storage.search_graph_words(GraphWords(namespace=MINE, words=("kira",), limits={GraphKind.FACT: 9}))
    assert found == {GraphKind.FACT: []}


@promise
async def vectors_follow_their_items(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, fact(1, KIRA), procedure(1), episode(1), preference(1))
    waiting = await storage.list_graph_items_without_vector("m", limit=9)
    assert [item.item_id for item in waiting] == [
        each.item_id for each in (KIRA, VERCEL, fact(1, KIRA), procedure(1), episode(1))
    ]
    assert len(await storage.list_graph_items_without_vector("m", limit=2)) == 2
    one, two = np.eye(4, dtype=np.float32)[:2]

    async def embed(*vectors: tuple[GraphItemId, Any]) -> None:
        await transact_one(storage, lambda transaction: transaction.put_graph_vectors("m", vectors))

    await embed((KIRA.item_id, one), (VERCEL.item_id, two), (entity(9).item_id, one))
    loaded = await storage.load_graph_vectors(MINE, "m")
    assert loaded.item_ids == (KIRA.item_id, VERCEL.item_id)
    assert np.array_equal(loaded.rows, np.stack([one, two]))
    assert loaded.total == 2
    await embed((KIRA.item_id, two))
    later = await storage.load_graph_vectors(MINE, "m", after=loaded.through)
    assert (later.item_ids, later.total) == ((KIRA.item_id,), 2)
    await put(storage, entity(1, "Kira", mention_count=5, aliases=("the app",)))
    assert (await storage.load_graph_vectors(MINE, "m")).total == 2
    await put(storage, entity(1, "Kira", description="something else"))
    assert (await storage.load_graph_vectors(MINE, "m")).item_ids == (VERCEL.item_id,)
    assert (await storage.load_graph_vectors(OTHERS, "m")).total == 0
    assert (await storage.load_graph_vectors(MINE, "other", after=3)).through == 3


@promise
async def forgetting_a_record_forgets_what_only_its_events_say(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_event(storage, event(number))
    await put_record(storage, record(1, source_event_ids=(event_id(1),)))
    await put(storage, KIRA, VERCEL, fact(1, KIRA), fact(2, VERCEL), episode(1), preference(1))
    evidence = [
        Evidence(fact(1, KIRA).item_id, event_id(1), DAWN),
        Evidence(fact(2, VERCEL).item_id, event_id(1), DAWN),
        Evidence(fact(2, VERCEL).item_id, event_id(2), DAWN),
    ]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    await transact_one(storage, lambda transaction: transaction.put_compacted_events([event_id(1)], episode(1).item_id))
    await transact_one(storage, lambda transaction: transaction.delete_memory_record([record_id(1)]))
    assert await listed(storage, GraphKind.FACT) == [fact(2, VERCEL)]
    assert await listed(storage, GraphKind.EPISODE) == []
    assert await listed(storage, GraphKind.PREFERENCE) == [preference(1)]
    assert await storage.get_graph_evidence([fact(2, VERCEL).item_id]) == {fact(2, VERCEL).item_id: (evidence[2],)}


@promise
async def a_session_waits_for_compaction_until_its_events_are_in_an_episode(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_event(storage, event(number))
    await put_event(storage, event(3, session_id="later", valid_time=at(60)))

    async def waiting(before: datetime) -> list[str]:
        return await storage.list_uncompacted_sessions(MINE, before=before, limit=9)

    assert await waiting(at(2)) == []
    assert await waiting(at(3)) == ["session"]
    assert await waiting(at(99)) == ["session", "later"]
    assert await storage.list_uncompacted_event_ids(MINE, "session", limit=9) == [event_id(1), event_id(2)]
    await put(storage, episode(1))
    await transact_one(
        storage, lambda transaction: transaction.put_compacted_events([event_id(1), event_id(2)], episode(1).item_id)
    )
    assert await waiting(at(99)) == ["later"]
    assert await storage.list_uncompacted_event_ids(MINE, "session", limit=9) == []
