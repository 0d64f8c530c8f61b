"""Wherever a daemon is killed, the next one learns all acknowledged events once, and no event stays parked.

A kill is simulated: before every step of the scheduler, the committed and the acknowledged events are noted. Only
commits survive a kill, so a kill at that step would leave exactly these. Steps that leave the same count as one.
Another daemon starts from each of them.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence

import attrs
import trio
from hypothesis import settings
from hypothesis import strategies as st

from kiro_learn.config import CompactionConfig, Config, LearningConfig
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import project_id_in
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import a_record_per_event
from kiro_learn.testing.simulation import scheduled, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.actors.patient import Patient, one_entry, out_of_sorts
from tests.unit.pipelines.learn.learning_rig import PickyStorage, merge_all

CONFIG = Config(
    learning=LearningConfig(
        extraction_bytes=120, buffer_idle_seconds=1.0, extraction_attempts=1, retry_seconds=0.5, breaker_failures=2
    ),
    compaction=CompactionConfig(threshold_bytes=130, ceiling_bytes=400, attempts=1, failures=1),
)


@attrs.frozen
class Remains:
    """The state that a kill would leave."""

    storage: InMemoryStorage
    acknowledged: frozenset[int]


class Coroner(trio.abc.Instrument):
    """Notes the state that a kill would leave, before each step of each task."""

    def __init__(self, storage: InMemoryStorage) -> None:
        self._storage = storage
        self._seen: dict[tuple[int, frozenset[int]], Remains] = {}
        self.acknowledged: frozenset[int] = frozenset()
        self.step_count = 0

    @property
    def remains(self) -> Sequence[Remains]:
        return tuple(self._seen.values())

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002  # trio's signature
        self.step_count += 1
        key = (self._storage.commit_count, self.acknowledged)
        if key not in self._seen:
            self._seen[key] = Remains(self._storage.copied(), self.acknowledged)


class Day(enum.Enum):
    """The state of the model and the store when an event comes in."""

    WELL = enum.auto()
    SICK = enum.auto()
    """The model learns nothing, but compacts."""
    DUMB = enum.auto()
    """The model neither learns nor compacts."""
    PICKY = enum.auto()
    """The store refuses every record."""


async def live_through(storage: PickyStorage, coroner: Coroner, days: Sequence[Day]) -> None:
    """Take an event a day; learn, fail, compact, merge, set aside and park, as each day demands."""
    model = Patient()
    model.judge = merge_all
    async with simulated_daemon(storage=storage, llm=model, config=CONFIG) as services:
        for number, day in enumerate(days):
            model.learn = out_of_sorts if day in {Day.SICK, Day.DUMB} else a_record_per_event
            model.compact = out_of_sorts if day is Day.DUMB else one_entry
            storage.refuses = everything if day is Day.PICKY else nothing
            await services.capture.take(an_event(number, session=str(number % 2)))
            coroner.acknowledged |= {number}
            await trio.sleep(0.7)
        model.learn, storage.refuses = a_record_per_event, nothing
        await trio.sleep(30)


def nothing(_title: str) -> bool:
    return False


def everything(_title: str) -> bool:
    return True


async def learned_by_the_next(remains: Remains) -> tuple[Counter[EventId], int]:
    """How often each event is cited after the next daemon's flush, and how many events are still parked."""
    model, storage = Patient(), remains.storage.copied()
    model.judge = merge_all
    async with simulated_daemon(storage=storage, llm=model, config=CONFIG) as services:
        flushed = await services.learn.flush(project_id_in(NAMESPACE))
        await assert_replaced_records_live_on(services, storage)
        page = await services.queries.records(namespace=NAMESPACE, limit=1000, offset=0)
    return Counter(event_id for record in page.items for event_id in record.source_event_ids), flushed.parked_count


async def assert_replaced_records_live_on(services: Services, storage: InMemoryStorage) -> None:
    """A record cites every event that the records it replaced cited."""
    for record in (await services.queries.records(namespace=NAMESPACE, limit=1000, offset=0)).items:
        for replacement in await storage.list_replacements(record.record_id):
            cited = {event_id for replaced in replacement.replaced for event_id in replaced.source_event_ids}
            assert cited <= set(record.source_event_ids)


async def check_every_kill(days: Sequence[Day]) -> Coroner:
    storage = PickyStorage(nothing)
    coroner = Coroner(storage)
    trio.lowlevel.add_instrument(coroner)
    await live_through(storage, coroner, days)
    trio.lowlevel.remove_instrument(coroner)
    for remains in coroner.remains:
        stored = await storage_events(remains.storage)
        if not stored:
            continue
        cited, parked_count = await learned_by_the_next(remains)
        assert {an_event(number).event_id for number in remains.acknowledged} <= stored
        assert cited == Counter(stored)
        assert parked_count == 0
    return coroner


async def storage_events(storage: InMemoryStorage) -> set[EventId]:
    page = await storage.list_events(namespace=NAMESPACE, limit=1000, cursor=None)
    return {event.event_id for event in page.items}


@settings(max_examples=max(1, settings().max_examples // 3))  # each story has some hundred kills
@scheduled(days=st.lists(st.sampled_from(Day), min_size=1, max_size=8))
async def test_a_kill_at_any_step_of_any_story_learns_once(days: list[Day]) -> None:
    """With any failures, and in any order of tasks."""
    await check_every_kill(days)


STORY = [Day.WELL, *[Day.PICKY] * 3, *[Day.WELL] * 3, *[Day.SICK] * 5, *[Day.DUMB] * 5, *[Day.WELL] * 3]


def test_a_kill_at_any_step_of_a_story_with_everything_in_it_learns_once() -> None:
    """A story that learns, merges, fails, compacts, sets aside and parks, so that kills hit all of these."""
    seen: set[str] = set()

    async def scenario() -> Coroner:
        coroner = await check_every_kill(STORY)
        for remains in coroner.remains:
            seen.update(await what_is_in(remains.storage))
        return coroner

    coroner = simulate(scenario)

    assert seen == {"waiting", "compacted", "set aside", "parked", "records", "replaced"}
    assert coroner.step_count > 500, "there are many more places than there are things to leave behind"


async def what_is_in(storage: InMemoryStorage) -> set[str]:
    snapshot = await storage.snapshot_buffer(NAMESPACE, most_bytes=10**9)
    size = (await storage.list_buffers()).get(NAMESPACE)
    records = (await storage.list_memory_records(namespace=NAMESPACE, limit=1000, offset=0)).items
    holds = {
        "waiting": bool(snapshot.entries),
        "compacted": any(entry.stands_for for entry in snapshot.entries),
        "set aside": size is not None and size.parked_event_count > 0,
        "parked": bool(await storage.list_parked_clusters(NAMESPACE)),
        "records": bool(records),
        "replaced": any([await storage.list_replacements(record.record_id) for record in records]),
    }
    return {name for name, is_there in holds.items() if is_there}
