"""Old events expire by the rules, once, only after they are in a memory, and by default not at all."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from functools import partial

import attrs
import pytest
import trio

from kiro_learn.config import Config, RetentionConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import EXPIRED, Amount, FileSize, RetentionRules
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.services.retention import FIRST_AFTER_SECONDS, INTERVAL_SECONDS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.services.in_daemon import in_daemon

DAY = 24 * 3600.0
LONG = "The pool has a fixed size. " + "Then a lot of other things were tried and measured. " * 40
ALL = RetentionRules(event_days=1, distill_days=1, replaced_days=5)


def put_old(transaction: StorageTransaction) -> None:
    """Put two events, a waiting one, and a later event of which nothing was learned; and two memories."""
    for number in (1, 2, 4):
        transaction.put_event(an_event(number, session="later" if number > 3 else "s"), buffered=False)
    transaction.put_event(an_event(3), buffered=True)
    for number in (1, 3):
        transaction.put_memory_record(a_record(number, summary=LONG))


def stored() -> InMemoryStorage:
    storage = InMemoryStorage()
    storage_filled = partial(transact_one, storage, put_old)
    trio.run(storage_filled)
    return storage


async def texts(storage: InMemoryStorage) -> list[str]:
    page = await storage.list_events(namespace=NAMESPACE, limit=9, cursor=None)
    return [event.body.content for event in reversed(page.items) if isinstance(event.body, TextBody)]


async def live(storage: InMemoryStorage) -> list[MemoryRecord]:
    page = await storage.list_memory_records(namespace=NAMESPACE, limit=9, offset=0)
    return [record for record in page.items if record.record_id.startswith("mr_00") or record.strategy == "distilled"]


def test_by_default_nothing_goes_however_old_it_is() -> None:
    storage = stored()

    async def scenario(services: Services) -> None:
        await trio.sleep(9 * DAY)
        aged = await services.retention.apply(services.retention.rules)
        assert (aged.events, aged.memories, aged.replaced) == (Amount(), Amount(), Amount())
        assert EXPIRED not in await texts(storage)

    in_daemon(scenario, storage=storage)


def test_a_preview_says_what_goes_and_changes_nothing() -> None:
    storage = stored()

    async def scenario(services: Services) -> None:
        await trio.sleep(2 * DAY)
        before = await texts(storage), await live(storage)
        preview = await services.retention.preview(ALL)
        assert (await texts(storage), await live(storage)) == before
        applied = await services.retention.apply(ALL)
        assert attrs.evolve(applied, file_bytes=preview.file_bytes, free_bytes=preview.free_bytes) == preview
        assert preview.events.count == 3
        assert preview.memories.count == 2
        again = await services.retention.apply(ALL)
        assert (again.events, again.memories) == (Amount(), Amount())

    in_daemon(scenario, storage=storage)


def test_only_what_a_memory_keeps_loses_its_content() -> None:
    """The daemon has learned the third event in the meantime."""
    storage = stored()

    async def scenario(services: Services) -> None:
        await trio.sleep(2 * DAY)
        await services.retention.apply(RetentionRules(event_days=1))
        assert await texts(storage) == [EXPIRED, EXPIRED, EXPIRED, "event 4"]

    in_daemon(scenario, storage=storage)


def test_a_memory_is_made_shorter_once_and_undoing_that_is_for_good() -> None:
    storage = stored()

    async def scenario(services: Services) -> None:
        await trio.sleep(2 * DAY)
        await services.retention.apply(RetentionRules(distill_days=1))
        short = next(record for record in await live(storage) if record.strategy == "distilled")
        assert short.created_at <= EPOCH + timedelta(seconds=3)
        assert len(short.summary) < len(LONG) / 4
        undone = await services.history.undo(short.record_id)
        assert undone is not None
        assert undone.replaced[0].summary == LONG
        await trio.sleep(DAY)
        assert (await services.retention.apply(RetentionRules(distill_days=1))).memories == Amount()

    in_daemon(scenario, storage=storage)


def test_what_is_known_of_the_files_of_a_memory_stays_known() -> None:
    """Otherwise a file that was only touched would make the shortened memory stale."""
    storage = stored()

    async def scenario(services: Services) -> None:
        await trio.sleep(2 * DAY)
        whole = await live(storage)
        noted = {record.record_id: {"src/pool.py": f"digest {index}"} for index, record in enumerate(whole)}
        await transact_one(storage, lambda transaction: transaction.put_file_digests(noted))
        await services.retention.apply(RetentionRules(distill_days=1))
        short = [record.record_id for record in await live(storage)]
        assert len(short) == 2
        known = await storage.get_file_digests(short)
        assert sorted(known.values(), key=str) == sorted(noted.values(), key=str)

    in_daemon(scenario, storage=storage)


def test_what_was_replaced_goes_by_its_own_rule() -> None:
    storage = stored()

    async def scenario(services: Services) -> None:
        rules = attrs.evolve(ALL, replaced_days=2)
        await trio.sleep(2 * DAY)
        await services.retention.apply(rules)
        await trio.sleep(1.9 * DAY)
        assert (await services.retention.apply(rules)).replaced == Amount()
        await trio.sleep(0.2 * DAY)
        assert (await services.retention.preview(rules)).replaced.count == 2
        assert (await services.retention.apply(rules)).replaced.count == 2
        for record in await live(storage):
            assert await storage.list_replacements(record.record_id) == ()

    in_daemon(scenario, storage=storage)


def test_it_is_done_once_a_day_by_the_settings() -> None:
    storage = stored()
    config = attrs.evolve(Config(), retention=RetentionConfig(event_days=1))

    async def scenario(services: Services) -> None:
        await trio.sleep(FIRST_AFTER_SECONDS + 1)
        assert EXPIRED not in await texts(storage)
        await trio.sleep(INTERVAL_SECONDS)
        assert await texts(storage) == [EXPIRED, EXPIRED, EXPIRED, "event 4"]

    in_daemon(scenario, storage=storage, config=config)


class TurnOfAnother(InMemoryStorage):
    """A store on which another daemon always holds the turn for retention."""

    def turn(self, name: str) -> AbstractAsyncContextManager[bool]:
        return nullcontext(enter_result=name != "retention")


def test_while_another_daemon_on_the_database_does_it_this_one_does_not() -> None:
    storage = TurnOfAnother()
    trio.run(partial(transact_one, storage, put_old))
    config = attrs.evolve(Config(), retention=RetentionConfig(event_days=1))

    async def scenario(_services: Services) -> None:
        await trio.sleep(3 * DAY)
        assert EXPIRED not in await texts(storage)

    in_daemon(scenario, storage=storage, config=config)


class SlowToErase(InMemoryStorage):
    """A store that takes an hour to erase forgotten texts."""

    def __init__(self) -> None:
        super().__init__()
        self.erased_count = 0

    async def erase_forgotten(self) -> bool:
        await trio.sleep(3600)
        self.erased_count += 1
        return True


def test_a_daemon_that_stops_does_not_wait_for_it() -> None:
    storage = SlowToErase()
    trio.run(partial(transact_one, storage, put_old))
    config = attrs.evolve(Config(), retention=RetentionConfig(event_days=1))

    async def scenario() -> float:
        async with simulated_daemon(storage=storage, config=config):
            await trio.sleep(FIRST_AFTER_SECONDS + INTERVAL_SECONDS + 3700)
            assert EXPIRED in await texts(storage)
            stopped_at = trio.current_time()
        return trio.current_time() - stopped_at

    assert simulate(scenario) < 1
    assert storage.erased_count == 1


def test_what_was_not_overwritten_is_the_next_time() -> None:
    storage = SlowToErase()
    trio.run(partial(transact_one, storage, put_old))

    async def scenario(services: Services) -> None:
        await trio.sleep(2 * DAY)
        before = storage.erased_count
        with trio.move_on_after(1800):
            await services.retention.apply(ALL)
        assert (EXPIRED in await texts(storage), storage.erased_count) == (True, before)
        again = await services.retention.apply(ALL)
        assert (again.events, storage.erased_count) == (Amount(), before + 1)

    in_daemon(scenario, storage=storage)


@pytest.mark.parametrize(
    ("size", "is_rewritten"),
    [
        (FileSize(4_000_000_000, 3_000_000_000), True),
        (FileSize(4_000_000_000, 1_000_000_000), False),  # has three times as much content as may be copied in memory
        (FileSize(1_000_000_000, 200_000_000), False),  # has less than a quarter free
        (FileSize(1_000_000, 900_000), False),  # too small
    ],
)
def test_a_file_is_rewritten_if_that_is_worth_it_and_can_be_done(size: FileSize, *, is_rewritten: bool) -> None:
    class Sized(InMemoryStorage):
        async def get_file_size(self) -> FileSize:
            return size

    async def scenario(services: Services) -> None:
        assert (await services.retention.preview(ALL)).is_rewritten is is_rewritten

    in_daemon(scenario, storage=Sized())


def test_a_preview_announces_that_the_file_is_rewritten_once_what_is_old_is_gone() -> None:
    class Sized(InMemoryStorage):
        size = FileSize(10_000, 100)

        async def get_file_size(self) -> FileSize:
            return self.size

    storage = Sized()

    async def scenario(services: Services) -> None:
        retention = services.retention
        assert not (await retention.preview(ALL)).is_rewritten
        content = TextBody("It took long. " * 400)
        event = attrs.evolve(an_event(1), body=content)
        await transact_one(storage, lambda transaction: transaction.put_event(event, buffered=False))
        await transact_one(storage, lambda transaction: transaction.put_memory_record(a_record(1)))
        await trio.sleep(2 * DAY)
        preview = await retention.preview(ALL)
        assert (preview.free_bytes, preview.is_rewritten) == (100, True)
        storage.size = FileSize(10_000, 5_000)
        assert (await retention.apply(ALL)).is_rewritten

    in_daemon(scenario, storage=storage, config=Config(retention=RetentionConfig(rewrite_bytes=1_000)))
