from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
import pytest
import structlog
import trio
import trio.testing

from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.errors import ActorStopped, DependencyError, EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, CodeProduct, ModelIdentity
from kiro_learn.ports.storage.answers import EmbeddingTable, ModelSwitched, RecordEmbedded, RecordRemoved
from kiro_learn.retrieval.ranking.vector_rows import Codes, Integers, Pieces, multiply_codes
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage

NOW = datetime(2026, 1, 5, tzinfo=UTC)
EAST, NORTH = np.eye(2, DIMENSION, dtype=np.float32)
OTHER = ModelIdentity("other", "b" * 64, 3)
NAMES = [RecordId(f"{number:02}") for number in range(20)]

T = TypeVar("T")


class StorageOfVectors(InMemoryStorage):
    """A store with twenty records that all point east by default. It counts its reads."""

    reads = 0
    table = EmbeddingTable(tuple(NAMES), (NOW,) * 20, (1,) * 20, np.tile(EAST, (20, 1)))

    async def list_embeddings(self, namespace: str) -> EmbeddingTable:
        self.reads += 1
        await trio.lowlevel.checkpoint()
        return self.table


def removed(count: int) -> list[RecordRemoved]:
    return [RecordRemoved(NAMESPACE, name) for name in NAMES[:count]]


async def found(indexes: VectorIndexes) -> set[str]:
    return {hit.record_id for hit in (await indexes.rank(NAMESPACE, EAST, 99)).hits}


@asynccontextmanager
async def running(
    storage: StorageOfVectors, offload: Offload = in_place, product: CodeProduct = multiply_codes
) -> AsyncIterator[VectorIndexes]:
    indexes = VectorIndexes(storage, most_bytes=10**9, offload=offload, product=product)
    async with supervised(indexes):
        yield indexes


def test_what_is_committed_while_an_index_is_written_anew_is_in_it() -> None:
    async def scenario() -> set[str]:
        computed = 0

        async def offload(compute: Callable[[], T], /) -> T:
            nonlocal computed
            computed += 1
            if computed == 2:  # the first one made the index
                indexes.apply(RecordEmbedded(NAMESPACE, RecordId("new"), NOW, NORTH[np.newaxis]))
            return await in_place(compute)

        async with running(StorageOfVectors(), offload) as indexes:
            await found(indexes)
            for change in removed(6):
                indexes.apply(change)
            await found(indexes)
            await trio.sleep(1)
            assert computed == 2
            return await found(indexes)

    assert simulate(scenario) == {*NAMES[6:], "new"}


def test_a_query_of_another_model_is_refused() -> None:
    async def scenario() -> None:
        async with running(StorageOfVectors()) as indexes:
            with pytest.raises(EmbeddingError, match="has just changed to the embedding model"):
                await indexes.rank(NAMESPACE, EAST, 9, model=OTHER)

    simulate(scenario)


@pytest.mark.parametrize("at_hand", [False, True])
def test_after_a_switch_no_vector_of_the_model_before_is_compared(at_hand: bool) -> None:
    """The index may be in memory, or just being read."""

    async def scenario() -> list[str]:
        storage = StorageOfVectors()
        after = EmbeddingTable((RecordId("new"),), (NOW,), (1,), np.ones((1, OTHER.dimension), np.float32), OTHER)

        def switch() -> None:
            storage.table = after
            indexes.apply(ModelSwitched(NAMESPACE, OTHER))
            indexes.apply(RecordEmbedded(NAMESPACE, RecordId("stray"), NOW, NORTH[np.newaxis]))

        async def offload(compute: Callable[[], T], /) -> T:
            if not at_hand and storage.table is not after:
                switch()
            return await in_place(compute)

        async with running(storage, offload) as indexes:
            if at_hand:
                await found(indexes)
                switch()
            ones = np.ones(OTHER.dimension, np.float32)
            return [hit.record_id for hit in (await indexes.rank(NAMESPACE, ones, 9, model=OTHER)).hits]

    assert simulate(scenario) == ["new"]


def test_no_search_waits_for_an_index_that_is_written_anew() -> None:
    async def scenario() -> tuple[set[str], float]:
        async def offload(compute: Callable[[], T], /) -> T:
            await trio.sleep(5)
            return compute()

        async with running(StorageOfVectors(), offload) as indexes:
            await found(indexes)
            for change in removed(6):
                indexes.apply(change)
            began = trio.current_time()
            return await found(indexes), trio.current_time() - began

    assert simulate(scenario) == ({*NAMES[6:]}, 0)


def test_an_index_that_is_not_searched_is_dropped_before_it_is_mostly_dead() -> None:
    async def scenario() -> tuple[int, int]:
        storage = StorageOfVectors()
        async with running(storage) as indexes:
            await found(indexes)
            for change in removed(11):
                indexes.apply(change)
            kept = len(indexes.statistics())
            await found(indexes)
            return kept, storage.reads

    assert simulate(scenario) == (0, 2)


def test_a_caller_that_waits_for_an_index_is_told_when_the_daemon_stops() -> None:
    async def scenario() -> None:
        async def offload(compute: Callable[[], T], /) -> T:
            await trio.sleep_forever()
            raise AssertionError("for ever ended")

        async with trio.open_nursery() as nursery, running(StorageOfVectors(), offload) as indexes:
            nursery.start_soon(expect_stopped, indexes)
            await trio.testing.wait_all_tasks_blocked()

    simulate(scenario)


def test_an_index_cannot_be_asked_for_once_the_daemon_has_stopped() -> None:
    async def scenario() -> None:
        async with running(StorageOfVectors()) as indexes:
            pass
        await expect_stopped(indexes)

    simulate(scenario)


def test_an_index_that_cannot_be_written_anew_is_searched_as_it_is() -> None:
    async def scenario() -> set[str]:
        async with running(StorageOfVectors()) as indexes:
            await found(indexes)
            for change in removed(6):
                indexes.apply(change)
        return await found(indexes)

    assert simulate(scenario) == {*NAMES[6:]}


async def expect_stopped(indexes: VectorIndexes) -> None:
    with pytest.raises(ActorStopped):
        await found(indexes)


def test_a_search_multiplies_with_the_product_it_was_given() -> None:
    def broken(codes: Codes, pieces: Pieces) -> Integers:
        raise DependencyError("out of order")

    async def scenario() -> None:
        async with running(StorageOfVectors(), product=broken) as indexes:
            with pytest.raises(DependencyError, match="out of order"):
                await found(indexes)

    simulate(scenario)


def test_a_vector_that_is_not_finite_is_one_warning_and_the_others_are_found() -> None:
    vectors = np.tile(EAST, (20, 1))
    vectors[3, 5], vectors[4], vectors[18, 0] = np.nan, 0, -np.inf

    async def scenario() -> list[float]:
        storage = StorageOfVectors()
        storage.table = EmbeddingTable(tuple(NAMES[:10]), (NOW,) * 10, (1, 1, 3, 1, 4, 1, 1, 1, 1, 6), vectors)
        async with running(storage) as indexes:
            for _ in range(2):
                ranking = await indexes.rank(NAMESPACE, EAST, 99)
        return [hit.score for hit in ranking.hits]

    with structlog.testing.capture_logs() as logs:
        assert simulate(scenario) == [1.0] * 10
    assert [(line["event"], line["record_id"]) for line in logs] == [
        ("vector_index.vector_not_finite", NAMES[2]),
        ("vector_index.vector_not_finite", NAMES[9]),
    ]
