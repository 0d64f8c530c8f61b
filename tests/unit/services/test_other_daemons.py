"""A daemon on a shared store follows the commits of other daemons, and learns the events they left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from kiro_learn.errors import KiroLearnError, StorageError, StorageUnavailable
from kiro_learn.model.namespace import Pause, project_id_in
from kiro_learn.ports.storage.answers import Change, RecordEmbedded, RecordRemoved, RecordStored
from kiro_learn.ports.storage.interface import Work
from kiro_learn.services.placing import Wanted
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.test_pauses import SHOP, report

TAKE_OVER_SECONDS = 600.0


class SharedStorage(InMemoryStorage):
    """A store to which another daemon writes with ``commit``; that daemon may hold turns."""

    def __init__(self) -> None:
        super().__init__()
        self._told, self._heard = trio.open_memory_channel[Sequence[Change] | KiroLearnError](100)
        self.taken: set[str] = set()

    def commit(self, work: Work[object], *changes: Change) -> None:
        self.write_now(work)
        self._told.send_nowait(changes)

    def fail_following(self, error: KiroLearnError) -> None:
        self._told.send_nowait(error)

    async def follow_others(self) -> Sequence[Change]:
        with trio.move_on_after(30.0):
            found = await self._heard.receive()
            if isinstance(found, KiroLearnError):
                raise found
            return found
        return ()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[bool]:
        yield name not in self.taken


def live(scenario: Callable[[SharedStorage, Services], Awaitable[None]]) -> None:
    async def main() -> None:
        storage = SharedStorage()
        async with simulated_daemon(storage=storage) as services:
            await scenario(storage, services)

    simulate(main)


async def found(services: Services, query: str) -> list[str]:
    answer = await services.project_search.in_project(NAMESPACE, query, Wanted(limit=9))
    return [each.record.title for each in answer.found.memories]


def test_a_memory_of_another_daemon_is_found_and_one_that_it_forgot_is_not() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        record = a_record(1, "Rotate the signing key", "The key is rotated weekly.")
        parts = (await HashEmbedder().embed_parts([record.summary]))[0]

        def put(transaction: Any) -> None:
            transaction.put_memory_record(record)
            transaction.put_embedding(record.record_id, parts)

        assert await found(services, "rotated weekly") == []
        storage.commit(
            put,
            RecordStored(NAMESPACE, record.record_id),
            RecordEmbedded(NAMESPACE, record.record_id, record.created_at, parts),
        )
        await trio.sleep(1)
        assert await found(services, "rotated weekly") == [record.title]
        storage.commit(
            lambda transaction: transaction.delete_memory_record([record.record_id]),
            RecordRemoved(NAMESPACE, record.record_id),
        )
        await trio.sleep(1)
        assert await found(services, "rotated weekly") == []

    live(scenario)


def test_a_merge_by_another_daemon_is_known_with_the_first_record_that_it_moves() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        moved = a_record(1, "Rotate the signing key", namespace=NAMESPACE)

        def merge(transaction: Any) -> None:
            transaction.put_memory_record(moved)
            transaction.begin_merge(SHOP, NAMESPACE)

        storage.commit(merge, RecordStored(NAMESPACE, moved.record_id))
        await trio.sleep(1)
        assert (await services.project_finder.project_of("/home/ada/shop")).namespace == NAMESPACE

    live(scenario)


def test_pauses_of_another_daemon_hold_here_and_end_here() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        storage.write_now(lambda transaction: transaction.put_pause(Pause(SHOP, None, EPOCH)))
        await trio.sleep(61)
        await report(services, 1)
        assert (await services.queries.events(namespace=SHOP, limit=9, cursor=None)).total == 0
        await services.pauses.pause(SHOP, "mine")
        storage.write_now(lambda transaction: transaction.delete_pause(SHOP, None))
        await trio.sleep(61)
        assert [pause.session_id for pause in services.pauses.list()] == ["mine"]

    live(scenario)


def test_what_another_daemon_left_is_learned_but_not_while_it_learns() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        async def total() -> int:
            return (await services.queries.records(namespace=NAMESPACE, limit=9, offset=0)).total

        storage.taken.add(f"project {NAMESPACE}")
        storage.write_now(lambda transaction: transaction.put_event(an_event(1), buffered=True))
        await trio.sleep(TAKE_OVER_SECONDS - 60)
        assert (await services.health.status()).projects == (), "the other daemon has its time"
        await trio.sleep(TAKE_OVER_SECONDS + 600)
        assert await total() == 0
        storage.taken.clear()
        await trio.sleep(120)
        assert await total() == 1

    live(scenario)


def test_a_flush_waits_until_another_daemon_has_learned() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        storage.taken.add(f"project {NAMESPACE}")
        await services.capture.take(an_event(1))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(services.learn.flush, project_id_in(NAMESPACE))
            await trio.sleep(60)
            assert (await services.queries.records(namespace=NAMESPACE, limit=9, offset=0)).total == 0
            storage.taken.clear()
        assert (await services.queries.records(namespace=NAMESPACE, limit=9, offset=0)).total == 1

    live(scenario)


def test_it_goes_on_when_the_server_is_back() -> None:
    async def scenario(storage: SharedStorage, services: Services) -> None:
        storage.fail_following(StorageUnavailable("team", problem="cannot be reached"))
        record = a_record(1, "Rotate the signing key", "The key is rotated weekly.")
        storage.commit(
            lambda transaction: transaction.put_memory_record(record), RecordStored(NAMESPACE, record.record_id)
        )
        await trio.sleep(10)
        assert await found(services, "rotated weekly") == [record.title]

    live(scenario)


def test_a_daemon_that_cannot_know_what_others_did_ends() -> None:
    async def scenario(storage: SharedStorage, _services: Services) -> None:
        for _ in range(10):
            storage.fail_following(StorageError("the daemon was cut off from the database for days"))
        await trio.sleep(60)
        raise AssertionError("it goes on")

    with pytest.RaisesGroup(pytest.RaisesExc(StorageError, match="for days"), flatten_subgroups=True):
        live(scenario)
