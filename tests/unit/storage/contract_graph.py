from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from kiro_learn.errors import StorageError
from kiro_learn.model.graph import (
    Entity,
    EntityType,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Outcome,
    Preference,
    PreferenceCategory,
    Procedure,
    Relationship,
    Says,
    SourceType,
    Validity,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import Committed, GraphChanged
from kiro_learn.ports.storage.graph import GraphList, GraphWalk, GraphWords
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.testing.storage import put_event, put_record, transact_one
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
        procedure(1, success_count=2, last_used=at(5), last_outcome=Outcome.PARTIAL, version=3),
        preference(1, strength=0.75, evidence_count=4, validity=closed),
    ]
    await put(storage, *items)
    found = await storage.get_graph_items(MINE, [item.item_id for item in items])
    assert list(found.values()) == items
    assert await storage.get_graph_items(OTHERS, [item.item_id for item in items]) == {}


@promise
async def what_is_only_stated_makes_a_project_too(storage: StorageBackend) -> None:
    await put(storage, about := entity(1, "deployer"), fact(2, about))
    assert [(each.namespace, each.event_count, each.memory_count) for each in await storage.list_projects()] == [
        (MINE, 0, 0)
    ]
    assert [(await storage.get_stats(each)).total_projects for each in (None, MINE)] == [1, 1]


@promise
async def an_item_put_again_takes_the_place_of_what_had_its_id(storage: StorageBackend) -> None:
    await put(storage, KIRA)
    await put(storage, entity(1, "Kira", aliases=("k2",)))
    assert await listed(storage, GraphKind.ENTITY) == [entity(1, "Kira", aliases=("k2",))]
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
    assert await storage.find_named_entities(MINE, ["the app"]) == [KIRA]


@promise
async def an_entity_is_found_by_a_name_with_signs_or_in_any_script(storage: StorageBackend) -> None:
    names = (".env", "@types/node", "Foo & Bar", "北极星", "น้ำประปา", "Centre for European Policy Studies of the Union")
    known = [entity(number, name) for number, name in enumerate(names, start=1)]
    await put(storage, *known)
    assert await storage.find_named_entities(MINE, names) == known
    assert await storage.find_named_entities(MINE, [name.upper() for name in names]) == known
    assert await storage.find_named_entities(MINE, ["env", "node", "Foo Bar", "北极", "Centre"]) == []


@promise
async def thousands_of_names_are_looked_up_at_once(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL)
    names = [f"nothing {number}" for number in range(6_000)]
    assert await storage.find_named_entities(MINE, ["the app", *names, "vercel"]) == [KIRA, VERCEL]


@promise
async def a_transaction_finds_facts_of_entities_and_all_preferences(storage: StorageBackend) -> None:
    old = preference(1, validity=Validity(observed_at=DAWN, valid_until=at(1)))
    gone = fact(2, KIRA, validity=Validity(observed_at=DAWN, valid_until=at(1)))
    await put(storage, KIRA, VERCEL, OTTO, fact(1, VERCEL), gone, edge(1, OTTO, KIRA), old, preference(2))

    def facts(*about: Entity, **asked: Any) -> Any:
        ids = [each.item_id for each in about] if about else None
        return transact_one(storage, lambda transaction: transaction.find_facts(MINE, about=ids, **asked))

    assert await facts(KIRA, VERCEL, objects=["value"]) == [fact(1, VERCEL), gone]
    assert await facts(KIRA, objects=[], predicates=["runs_on"]) == [gone]
    assert await facts(KIRA, objects=["other"], predicates=["uses"]) == []
    assert await facts(objects=["value"]) == [fact(1, VERCEL), gone]

    def edges(**asked: Any) -> Any:
        values = {"types": ["uses"], "targets": [], **asked}
        return transact_one(storage, lambda tx: tx.find_relationships(MINE, [OTTO.item_id], **values))

    assert await edges(targets=[KIRA.item_id]) == await edges(whole_types=["uses"]) == [edge(1, OTTO, KIRA)]
    assert await edges(targets=[VERCEL.item_id]) == await edges(types=[], targets=[KIRA.item_id]) == []
    found = await transact_one(storage, lambda tx: tx.find_graph_items(MINE, GraphKind.PREFERENCE))
    assert found == [old, preference(2)]
    assert await transact_one(storage, lambda tx: tx.read_graph_item(MINE, gone.item_id)) == gone
    assert await transact_one(storage, lambda tx: tx.read_graph_item(OTHERS, gone.item_id)) is None


@promise
async def evidence_is_one_row_for_each_item_and_event(storage: StorageBackend) -> None:
    await put(storage, KIRA)
    first, second = (Evidence(KIRA.item_id, event_id(number), at(number)) for number in (1, 2))
    changed = Evidence(
        KIRA.item_id, event_id(2), at(2), 0.5, Says.ENDED, SourceType.OBSERVED, 3, valid_from=at(1), valid_until=at(9)
    )

    def add(*evidence: Evidence) -> Any:
        return transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))

    await add(second)
    await add(first, changed, first)
    assert await storage.get_graph_evidence([KIRA.item_id]) == {KIRA.item_id: (first, changed)}
    asked = [event_id(1), event_id(9)]
    assert await transact_one(storage, lambda transaction: transaction.find_graph_events(asked)) == {event_id(1)}
    gone = [(KIRA.item_id, event_id(1)), (VERCEL.item_id, event_id(2))]
    await transact_one(storage, lambda transaction: transaction.delete_graph_evidence(gone))
    ids = [KIRA.item_id, VERCEL.item_id]
    found = await transact_one(storage, lambda transaction: transaction.find_graph_evidence(ids))
    assert found == {KIRA.item_id: (changed,), VERCEL.item_id: ()}


@promise
async def words_find_each_kind_within_its_limit(storage: StorageBackend) -> None:
    told = fact(1, KIRA, "vercel edge")
    closed = fact(2, KIRA, "vercel once", validity=Validity(observed_at=DAWN, valid_until=at(5)))
    await put(storage, KIRA, VERCEL, entity(7, "vercel", namespace=OTHERS), told, closed)
    await put(storage, procedure(1, name="vercel deploy"), procedure(2, name="vercel undo"))

    async def found(*words: str, limit: int = 9, **values: Any) -> dict[GraphKind, list[GraphItemId]]:
        kinds = (GraphKind.ENTITY, GraphKind.FACT, GraphKind.PROCEDURE)
        return await storage.search_graph_words(
            GraphWords(namespace=MINE, words=words, limits=dict.fromkeys(kinds, limit), **values)
        )

    all_kinds = await found("vercel")
    assert all_kinds[GraphKind.ENTITY] == [VERCEL.item_id]
    assert all_kinds[GraphKind.FACT] == [told.item_id]
    assert sorted(all_kinds[GraphKind.PROCEDURE]) == [procedure(1).item_id, procedure(2).item_id]
    assert (await found("vercel", "undo"))[GraphKind.PROCEDURE][0] == procedure(2).item_id
    assert len((await found("vercel", limit=1))[GraphKind.PROCEDURE]) == 1
    assert set((await found("vercel", as_of=at(4)))[GraphKind.FACT]) == {told.item_id, closed.item_id}
    assert (await found("nowhere"))[GraphKind.FACT] == []


@promise
async def open_candidates_are_listed_by_entity_the_surest_first(storage: StorageBackend) -> None:
    closed = Validity(observed_at=DAWN, valid_until=at(5))
    retired = Validity(observed_at=DAWN, retired_at=at(5))
    theirs = entity(8, "Kira", namespace=OTHERS)
    await put(storage, KIRA, VERCEL, OTTO, theirs, fact(1, KIRA), fact(9, theirs, is_candidate=True))
    candidates = [
        fact(2, KIRA, is_candidate=True, confidence=0.4),
        fact(3, VERCEL, is_candidate=True, confidence=0.6),
        fact(4, KIRA, is_candidate=True, confidence=0.5),
        fact(5, KIRA, is_candidate=True, validity=closed),
        fact(6, KIRA, is_candidate=True, validity=retired),
        fact(7, OTTO, is_candidate=True),
    ]
    await put(storage, *candidates)
    about = (KIRA.item_id, VERCEL.item_id, theirs.item_id)

    async def found(limit: int) -> list[GraphItemId]:
        return [each.item_id for each in await storage.list_candidate_facts(MINE, about, limit=limit)]

    assert await found(9) == [item_id(GraphKind.FACT, number) for number in (3, 4, 2)]
    assert await found(2) == [item_id(GraphKind.FACT, number) for number in (3, 4)]
    assert await storage.list_candidate_facts(MINE, (), limit=9) == []


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

    assert await depths(KIRA) == {
        KIRA.item_id: 0,
        OTTO.item_id: 1,
        VERCEL.item_id: 1,
        fact(1, OTTO).item_id: 1,
        far.item_id: 2,
    }
    assert beyond.item_id not in await depths(KIRA)
    assert (await depths(KIRA, far))[far.item_id] == 0
    assert gone.item_id in await depths(KIRA, as_of=at(4))
    assert fact(2, KIRA).item_id in await depths(KIRA, as_of=at(4))
    assert set(await depths(KIRA, depth=0)) == {KIRA.item_id}
    assert len(await depths(KIRA, per_node=1, depth=1)) == 3
    assert await depths(entity(9)) == {}
    assert set(await depths(KIRA, most_entities=1)) == {KIRA.item_id}


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
    assert await listed(storage, GraphKind.FACT, as_of=DAWN - timedelta(seconds=1)) == [], "nothing was said yet"
    assert await listed(storage, GraphKind.FACT, namespace=OTHERS) == []
    assert await listed(storage, GraphKind.ENTITY, text="APP") == [KIRA]


@promise
async def a_list_as_of_a_time_has_the_version_and_the_entities_of_then(storage: StorageBackend) -> None:
    second = procedure(2, steps=("push",), version=2, created_at=at(5))
    first = procedure(1, created_at=at(2), superseded_by=second.item_id)
    unknown_end = procedure(3, name="Test", created_at=at(1), superseded_by=item_id(GraphKind.PROCEDURE, 9))
    late = entity(2, "Vercel", first_seen=at(4))
    await put(storage, KIRA, late, first, second, unknown_end)

    async def held(kind: GraphKind, seconds: int) -> list[GraphItem]:
        return await listed(storage, kind, as_of=at(seconds))

    assert [await held(GraphKind.PROCEDURE, seconds) for seconds in (1, 2, 4, 5)] == [[], [first], [first], [second]]
    assert [await held(GraphKind.ENTITY, seconds) for seconds in (3, 4)] == [[KIRA], [late, KIRA]]
    assert await listed(storage, GraphKind.PROCEDURE, only_current=False) == [unknown_end, second, first]


@promise
async def deleting_an_entity_deletes_what_is_said_of_it(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, fact(1, KIRA), edge(1, VERCEL, KIRA), fact(2, VERCEL))
    evidence = [Evidence(fact(1, KIRA).item_id, event_id(1), DAWN)]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    ids = [KIRA.item_id, entity(9).item_id]
    await transact_one(storage, lambda transaction: transaction.delete_graph_items(ids))
    assert await listed(storage, GraphKind.FACT) == [fact(2, VERCEL)]
    assert await listed(storage, GraphKind.RELATIONSHIP) == []
    assert await storage.get_graph_evidence([fact(1, KIRA).item_id]) == {fact(1, KIRA).item_id: ()}


@promise
async def the_events_of_what_was_forgotten_stay_known(storage: StorageBackend) -> None:
    await put(storage, KIRA, VERCEL, fact(1, KIRA), edge(1, VERCEL, KIRA), fact(2, VERCEL))
    about: dict[int, GraphItem] = {1: KIRA, 2: fact(1, KIRA), 3: edge(1, VERCEL, KIRA), 4: fact(2, VERCEL)}
    evidence = [Evidence(item.item_id, event_id(number), at(number)) for number, item in about.items()]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))

    async def forget(namespace: Namespace, item: GraphItem) -> bool:
        return await transact_one(storage, lambda tx: tx.forget_graph_item(namespace, item.item_id))

    async def known() -> set[EventId]:
        return await transact_one(storage, lambda tx: tx.find_graph_events([event_id(number) for number in range(6)]))

    assert not await forget(OTHERS, KIRA)
    assert not await forget(MINE, entity(9))
    assert await forget(MINE, KIRA)
    assert not await forget(MINE, KIRA)
    assert await listed(storage, GraphKind.ENTITY) == [VERCEL]
    assert await listed(storage, GraphKind.FACT) == [fact(2, VERCEL)]
    assert await known() == {event_id(number) for number in about}
    await transact_one(storage, lambda transaction: transaction.delete_graph_items([VERCEL.item_id]))
    assert await known() == {event_id(number) for number in (1, 2, 3)}


@promise
async def vectors_follow_their_items(storage: StorageBackend) -> None:
    gone = fact(2, KIRA, "once", validity=Validity(observed_at=DAWN, valid_until=at(1)))
    await put(storage, KIRA, VERCEL, fact(1, KIRA), gone, procedure(1), preference(1))
    waiting = await storage.list_graph_items_without_vector("m", limit=9)
    assert [item.item_id for item in waiting] == [each.item_id for each in (KIRA, VERCEL, fact(1, KIRA), procedure(1))]
    assert len(await storage.list_graph_items_without_vector("m", limit=2)) == 2
    one, two = np.eye(4, dtype=np.float32)[:2]

    async def embed(digest: str, *vectors: tuple[GraphItemId, Any]) -> None:
        await transact_one(storage, lambda transaction: transaction.put_graph_vectors(digest, vectors))

    await embed("m", (KIRA.item_id, one), (VERCEL.item_id, two), (entity(9).item_id, one))
    loaded = await storage.load_graph_vectors(MINE, "m", after=0)
    assert loaded.item_ids == (KIRA.item_id, VERCEL.item_id)
    assert np.array_equal(loaded.rows, np.stack([one, two]))
    assert loaded.total == 2
    await embed("m", (KIRA.item_id, two))
    later = await storage.load_graph_vectors(MINE, "m", after=loaded.through)
    assert (later.item_ids, later.total) == ((KIRA.item_id,), 2)
    await put(storage, entity(1, "Kira", mention_count=5, aliases=("the app",)))
    assert (await storage.load_graph_vectors(MINE, "m", after=0)).total == 2
    await put(storage, entity(1, "Kira", description="something else", aliases=("the app",)))
    assert (await storage.load_graph_vectors(MINE, "m", after=0)).item_ids == (VERCEL.item_id,)
    await transact_one(storage, lambda transaction: transaction.delete_graph_items([VERCEL.item_id]))
    assert (await storage.load_graph_vectors(MINE, "m", after=3)).total == 0
    await embed("m", (KIRA.item_id, one))
    await embed("another", (KIRA.item_id, one))
    assert (await storage.load_graph_vectors(MINE, "m", after=0)).total == 0
    assert (await storage.load_graph_vectors(OTHERS, "another", after=3)).through == 3


@promise
async def forgetting_a_record_forgets_what_only_its_events_say(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_event(storage, event(number))
    await put_record(storage, record(1, source_event_ids=(event_id(1),)))
    await put(storage, KIRA, VERCEL, fact(1, KIRA), fact(2, VERCEL), preference(1))
    evidence = [
        Evidence(fact(1, KIRA).item_id, event_id(1), DAWN),
        Evidence(fact(2, VERCEL).item_id, event_id(1), DAWN),
        Evidence(fact(2, VERCEL).item_id, event_id(2), DAWN),
    ]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    await transact_one(storage, lambda transaction: transaction.delete_memory_record([record_id(1)]))
    assert await listed(storage, GraphKind.FACT) == [fact(2, VERCEL)]
    assert await listed(storage, GraphKind.PREFERENCE) == [preference(1)]
    assert await storage.get_graph_evidence([fact(2, VERCEL).item_id]) == {fact(2, VERCEL).item_id: (evidence[2],)}


@promise
async def a_change_names_the_items_of_which_something_else_is_told(storage: StorageBackend) -> None:
    async def reworded(*items: GraphItem) -> list[tuple[str, tuple[GraphItemId, ...]]]:
        (outcome,) = await storage.transact([lambda transaction: transaction.put_graph_items(items)])
        assert isinstance(outcome, Committed)
        return [(each.namespace, each.reworded) for each in outcome.changes if isinstance(each, GraphChanged)]

    things = (KIRA, fact(1, KIRA, is_candidate=True), procedure(1), preference(1), edge(1, KIRA, KIRA))
    assert await reworded(*things) == [(MINE, ())], "all of it is new"
    surer = (
        entity(1, "Kira", mention_count=9, aliases=("K",)),
        fact(1, KIRA, confidence=0.2, is_candidate=True),
        procedure(1, confidence=0.9),
        preference(1, strength=0.1),
        edge(1, KIRA, KIRA, confidence=0.1),
    )
    assert await reworded(*surer, entity(2, namespace=OTHERS)) == sorted([(MINE, ()), (OTHERS, ())])
    others = (
        entity(1, "Kira", description="sells shoes"),
        fact(1, KIRA),
        procedure(1, steps=("push",)),
        preference(1, value="vim"),
    )
    assert await reworded(*others) == [(MINE, tuple(item.item_id for item in others))]
