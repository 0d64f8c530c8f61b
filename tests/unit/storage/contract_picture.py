from __future__ import annotations

from collections import Counter
from typing import Any

from kiro_learn.model.graph import Evidence, GraphPicture, NodeKind, PictureAsked, Validity
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.testing.storage import put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event_id, record, record_id
from tests.unit.storage.contract import promise
from tests.unit.storage.contract_graph import KIRA, OTTO, VERCEL, edge, put

EVERYTHING = frozenset(NodeKind)
MEMORIES = frozenset({NodeKind.MEMORY, NodeKind.CONCEPT})


async def picture(storage: StorageBackend, show: frozenset[NodeKind], **values: Any) -> GraphPicture:
    asked: dict[str, Any] = {"namespace": MINE, "show": show, "limit": 100}
    return await storage.read_graph_picture(PictureAsked(**asked | values))


def joined(found: GraphPicture) -> set[tuple[object, ...]]:
    labels = [node.label for node in found.nodes]
    return {(*sorted((labels[each.source], labels[each.target])), each.says, each.count) for each in found.links}


async def three_memories(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "one", concepts=("Auth", "token"), files_touched=("a.py",)))
    await put_record(storage, record(2, "two", concepts=("auth", "token", "alone"), files_touched=("a.py", "b.py")))
    await put_record(storage, record(3, "three", namespace=OTHERS, concepts=("auth",)))


@promise
async def a_picture_joins_memories_to_what_two_of_them_share(storage: StorageBackend) -> None:
    await three_memories(storage)
    found = await picture(storage, MEMORIES)
    assert {node.label for node in found.nodes} == {"one", "two", "auth", "token"}
    assert joined(found) == {
        ("auth", "one", None, 1), ("auth", "two", None, 1), ("one", "token", None, 1), ("token", "two", None, 1)
    }  # fmt: skip  # a line a memory
    everywhere = await picture(storage, MEMORIES | {NodeKind.PROJECT, NodeKind.FILE}, namespace=None)
    assert {node.id for node in everywhere.nodes if node.kind is NodeKind.PROJECT} == {MINE, OTHERS}
    assert ("auth", "three", None, 1) in joined(everywhere)
    assert ("a.py", "one", None, 1) in joined(everywhere)
    assert found.left_out == everywhere.left_out == {}


@promise
async def without_memories_a_picture_joins_what_they_share(storage: StorageBackend) -> None:
    await three_memories(storage)
    found = await picture(storage, frozenset({NodeKind.CONCEPT, NodeKind.FILE}))
    assert joined(found) == {("auth", "token", None, 2), ("a.py", "auth", None, 2), ("a.py", "token", None, 2)}


@promise
async def a_picture_joins_entities_by_what_holds_and_to_the_memories_of_their_events(storage: StorageBackend) -> None:
    ended = Validity(valid_until=at(2), observed_at=DAWN)
    await put(storage, KIRA, VERCEL, OTTO, edge(1, KIRA, VERCEL), edge(2, OTTO, VERCEL, validity=ended))
    evidence = [Evidence(KIRA.item_id, event_id(1), DAWN)]
    await transact_one(storage, lambda transaction: transaction.put_graph_evidence(evidence))
    await put_record(storage, record(1, "one", source_event_ids=(event_id(1),)))
    found = await picture(storage, EVERYTHING - {NodeKind.PROJECT})
    assert joined(found) == {("Kira", "Vercel", "uses", 1), ("Kira", "one", None, 1)}
    assert {node.label for node in found.nodes} == {"Kira", "Vercel", "Otto", "one"}
    assert not (await picture(storage, EVERYTHING, namespace=OTHERS)).nodes


@promise
async def a_picture_keeps_its_bounds_and_says_what_it_left_out(storage: StorageBackend) -> None:
    for number in range(1, 21):
        await put_record(storage, record(number, concepts=[f"c{each}" for each in range(5)]))
    found = await picture(storage, MEMORIES, limit=12)
    assert len(found.nodes) == 12
    assert len(found.links) == 24
    joined_to = Counter(each.source for each in found.links)
    assert (len(joined_to), min(joined_to.values())) == (9, 2), "no memory lost all of its links"
    assert next(node.id for node in found.nodes if node.kind is NodeKind.MEMORY) == record_id(20)
    assert found.left_out == {NodeKind.MEMORY: 11, NodeKind.CONCEPT: 2, "links": 3}
