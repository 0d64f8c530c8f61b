"""An undone replacement restores a memory everywhere, including the index in memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from kiro_learn.errors import NothingToUndo, StorageBusy, UnknownRecord
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one

QUERY = "token cache"
OLD = (a_record(1, "The token cache expires early"), a_record(2, "The token cache is too small"))
OTHER = a_record(3, "Colours of the footer")
MERGED = a_record(4, "The token cache is small and expires early")
MERGE = Replacement(
    replacement_id=f"00{5:024d}",
    namespace=NAMESPACE,
    reason=ReplacementReason.MERGED,
    replaced_at=EPOCH,
    replacing=(MERGED.record_id,),
    replaced=OLD,
)


def merge(transaction: StorageTransaction) -> None:
    transaction.put_memory_record(MERGED)
    transaction.replace_memory_records(MERGE)


async def found(services: Services) -> dict[SearchMode, list[MemoryRecord]]:
    """The records that each mode of search finds."""
    return {
        mode: list((await services.search.search(NAMESPACE, QUERY, limit=9, mode=mode)).records) for mode in SearchMode
    }


async def remembered(storage: InMemoryStorage, records: Sequence[MemoryRecord]) -> dict[SearchMode, list[MemoryRecord]]:
    """Store ``records`` with their vectors; return the records that are found then."""
    async with simulated_daemon(storage=storage) as services:
        await services.remember.put_all(records)
        await trio.sleep(60)
        return await found(services)


def test_every_search_finds_what_it_found_before_a_merge_that_was_undone() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        before = await remembered(storage, (*OLD, OTHER))
        await transact_one(storage, merge)
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(60)
            merged = await found(services)
            assert all(MERGED in records and OLD[0] not in records for records in merged.values())
            assert await services.history.undo(MERGED.record_id) == MERGE
            assert await found(services) == before

    simulate(scenario)


def test_the_history_of_a_record_is_what_led_to_it() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, (*OLD, OTHER))
        await transact_one(storage, merge)
        async with simulated_daemon(storage=storage) as services:
            assert await services.history.of(MERGED.record_id) == (MERGE,)
            assert await services.history.of(OTHER.record_id) == ()
            with pytest.raises(UnknownRecord):
                await services.history.of(RecordId("mr_none"))
            with pytest.raises(NothingToUndo):
                await services.history.undo(OTHER.record_id)

    simulate(scenario)


def test_an_undo_that_the_store_cannot_keep_changes_nothing() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, OLD)
        await transact_one(storage, merge)
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(60)
            before = await found(services)
            storage.fail_next_write(StorageBusy("another process holds the lock"))
            with pytest.raises(StorageBusy):
                await services.history.undo(MERGED.record_id)
            assert await found(services) == before
            assert await services.history.of(MERGED.record_id) == (MERGE,)

    simulate(scenario)
