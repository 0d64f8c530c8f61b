"""Replaced memories are shown, and a replacement is undone."""

from __future__ import annotations

from typing import Any

from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import EPOCH
from kiro_learn.testing.storage import transact_one
from kiro_learn.wire.messages import read_record
from tests.unit.frontends.http.asking import Client, a_record, with_client

ANY_ID = a_record(99)["record_id"]


async def replace(client: Client, replacing: list[int], replaced: list[int]) -> str:
    """Replace records by others, all by number; returns the replacement's id."""
    came = [read_record(a_record(number)) for number in replacing]
    replacement = Replacement(
        replacement_id=f"00{replacing[0]:024d}",
        namespace=NAMESPACE,
        reason=ReplacementReason.MERGED,
        replaced_at=EPOCH,
        replacing=tuple(record.record_id for record in came),
        replaced=tuple(read_record(a_record(number)) for number in replaced),
    )

    def work(transaction: Any) -> None:
        for record in came:
            transaction.put_memory_record(record)
        transaction.replace_memory_records(replacement)

    await transact_one(client.storage, work)
    return replacement.replacement_id


async def keep(client: Client, *numbers: int) -> None:
    for number in numbers:
        await client.post("/v1/memories", a_record(number))


def path(number: int, what: str = "") -> str:
    return f"/v1/memories/{a_record(number)['record_id']}{what}"


def ids(*numbers: int) -> list[RecordId]:
    return [a_record(number)["record_id"] for number in numbers]


@with_client
async def test_a_memory_that_replaced_nothing_has_an_empty_history(client: Client) -> None:
    await keep(client, 1)
    reply = await client.get(path(1, "/history"))
    assert (reply.status, reply.json) == (200, {"record_id": a_record(1)["record_id"], "replacements": []})


@with_client
async def test_the_history_has_what_was_replaced_whole(client: Client) -> None:
    await keep(client, 1, 2)
    kept = [(await client.get(path(number))).json for number in (1, 2)]
    replacement_id = await replace(client, [3], [1, 2])
    (told,) = (await client.get(path(3, "/history"))).json["replacements"]
    assert told == {
        "replacement_id": replacement_id,
        "reason": "merged",
        "replaced_at": "2026-01-05T12:00:00.000000Z",
        "replacing": ids(3),
        "replaced": kept,
    }


@with_client
async def test_the_history_goes_back_to_the_first_replacement(client: Client) -> None:
    await keep(client, 1, 2, 3)
    first = await replace(client, [4], [1, 2])
    second = await replace(client, [5], [3, 4])
    told = (await client.get(path(5, "/history"))).json["replacements"]
    assert [each["replacement_id"] for each in told] == [second, first]


@with_client
async def test_what_is_undone_is_as_if_it_had_never_been(client: Client) -> None:
    await keep(client, 1, 2)
    search = f"/v1/memories/search?namespace={NAMESPACE}&query=zebras"
    before = (await client.get(search)).json
    replacement_id = await replace(client, [3], [1, 2])
    assert [record["record_id"] for record in (await client.get(search)).json] == ids(3)
    reply = await client.post(path(3, "/undo"))
    assert (reply.status, reply.json) == (
        200,
        {"undone": replacement_id, "removed": ids(3), "restored": ids(1, 2)},
    )
    assert (await client.get(search)).json == before
    assert (await client.get(path(3))).status == 404


@with_client
async def test_what_replaced_nothing_cannot_be_undone(client: Client) -> None:
    await keep(client, 1)
    reply = await client.post(path(1, "/undo"))
    assert (reply.status, reply.json["hint"]) == (409, "A memory that replaced nothing can only be forgotten.")


@with_client
async def test_what_was_built_upon_is_undone_last(client: Client) -> None:
    await keep(client, 1, 2)
    await replace(client, [3, 4], [1])
    await replace(client, [5], [2, 4])
    (later,) = ids(5)
    reply = await client.post(path(3, "/undo"))
    assert (reply.status, reply.json["hint"]) == (409, f"kiro-learn memories undo {later}")
    for number in (5, 3):
        assert (await client.post(path(number, "/undo"))).status == 200
    assert [(await client.get(path(number))).status for number in (1, 2, 3, 4, 5)] == [200, 200, 404, 404, 404]


@with_client
async def test_unknown_memories_have_no_history(client: Client) -> None:
    for reply in (await client.get(path(99, "/history")), await client.post(path(99, "/undo"))):
        assert (reply.status, reply.json) == (
            404,
            {
                "error": f"no memory has the id {ANY_ID}",
                "hint": "Perhaps it was forgotten, or another replaced it.",
            },
        )


@with_client
async def test_what_it_replaced_is_forgotten_with_a_memory(client: Client) -> None:
    await keep(client, 1, 2)
    await replace(client, [3], [1, 2])
    await client.ask("DELETE", path(3))
    assert (await client.get(path(3, "/history"))).status == 404
    await keep(client, 1)  # its id is free again
    assert (await client.get(path(1))).status == 200
