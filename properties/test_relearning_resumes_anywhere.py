"""Wherever a relearning stops, the next one finishes it: nothing is lost or done twice, and all can be undone.

A kill leaves only commits. So before each step of the scheduler a copy of the store is kept. From each of these copies
another daemon starts, and is asked to learn the rest again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import attrs
import trio
from hypothesis import strategies as st

from kiro_learn.config import CHARACTERS_PER_TOKEN, Config, LearningConfig, LlmConfig
from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.splitting import INSTRUCTIONS_CHARACTERS
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.record import BUILT_IN_STRATEGY, MemoryRecord
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import a_record_per_event
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage, put_event, put_record, transact_one
from tests.unit.pipelines.learn.learning_rig import merge_all
from tests.unit.services.relearning_rig import PROJECT, Model

KINDS = (EventKind.PROMPT, EventKind.SESSION_SUMMARY, EventKind.NOTE)


@attrs.frozen
class Past:
    """Past events, by kind and session, and the events that each of the weak records was learned from."""

    events: tuple[tuple[EventKind, str], ...]
    records: tuple[frozenset[int], ...]


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    events = draw(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("ab")), min_size=1, max_size=8))
    numbers = st.integers(0, len(events) - 1)
    records = draw(st.lists(st.frozensets(numbers, min_size=1, max_size=3), min_size=1, max_size=5))
    return Past(tuple(events), tuple(records))


class Moody(Model):
    """A model that fails at some calls, by ``moods``, and is well after these."""

    def __init__(self, moods: Sequence[bool], *, merges: bool) -> None:
        self._moods = iter(moods)
        self._merges = merges
        super().__init__(self._in_its_mood)

    def _in_its_mood(self, prompt: str) -> str:
        if not next(self._moods, True):
            raise LlmError("out of sorts")
        return a_record_per_event(prompt)

    def _answer(self, prompt: str) -> str:
        judged = super()._answer(prompt)
        return merge_all(prompt) if self._merges and "<reconciliation_request>\n" in prompt else judged


class Coroner(trio.abc.Instrument):
    """Keeps the state that a kill would leave, at each step of each task."""

    def __init__(self, storage: InMemoryStorage) -> None:
        self._storage = storage
        self.remains: dict[int, InMemoryStorage] = {}

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002  # trio's signature
        if self._storage.commit_count not in self.remains:
            self.remains[self._storage.commit_count] = self._storage.copied()


async def stored(past: Past) -> InMemoryStorage:
    storage = InMemoryStorage()
    events = [an_event(n, kind=kind, session=session) for n, (kind, session) in enumerate(past.events)]
    for event in events:
        await put_event(storage, event)
    for number, sources in enumerate(past.records):
        cited = tuple(events[source].event_id for source in sorted(sources))
        await put_record(storage, attrs.evolve(a_record(number), strategy=BUILT_IN_STRATEGY, source_event_ids=cited))
    return storage


async def live(storage: InMemoryStorage) -> tuple[MemoryRecord, ...]:
    return (await storage.list_memory_records(namespace=NAMESPACE, limit=1000, offset=0)).items


def cited_by(records: Sequence[MemoryRecord]) -> Counter[EventId]:
    return Counter(event_id for record in records for event_id in record.source_event_ids)


async def replaced_ids(storage: InMemoryStorage) -> Counter[RecordId]:
    """The number of replacements that each replaced record is in."""
    changes = {each.replacement_id: each for record in await live(storage)
               for each in await storage.list_replacements(record.record_id)}  # fmt: skip
    return Counter(record.record_id for change in changes.values() for record in change.replaced)


async def assert_nothing_is_lost_or_doubled(storage: InMemoryStorage, weak: Sequence[MemoryRecord]) -> None:
    records = await live(storage)
    here, gone = {record.record_id for record in records}, await replaced_ids(storage)
    for record in weak:
        assert (record.record_id in here) + gone[record.record_id] == 1, "a weak record is live or replaced, once"
    assert cited_by(weak).keys() <= cited_by(records).keys(), "what was told of is told of"
    better = [record for record in records if record.strategy != BUILT_IN_STRATEGY]
    assert max(cited_by(better).values(), default=0) <= 1, "nothing is learned twice"


def undo(record_id: RecordId, transaction: StorageTransaction) -> None:
    transaction.undo_replacement(record_id)


async def undone(storage: InMemoryStorage) -> tuple[MemoryRecord, ...]:
    """The live records after all replacements are undone."""
    while any(changes := [await storage.list_replacements(record.record_id) for record in await live(storage)]):
        newest = max((each[0] for each in changes if each), key=lambda change: change.replacement_id)
        await transact_one(storage, partial(undo, newest.replacing[0]))
    return await live(storage)


@scheduled(
    past=pasts(),
    batch_bytes=st.integers(1, 200),
    prompt_characters=st.integers(200, 3000),
    moods=st.lists(st.booleans(), max_size=6),
    merges=st.booleans(),
)
async def test_a_relearning_that_is_cut_off_anywhere_is_finished_by_the_next(
    past: Past, batch_bytes: int, prompt_characters: int, moods: list[bool], merges: bool
) -> None:
    """With any weak records, any batches, and a model that fails at any time."""
    config = Config(
        learning=LearningConfig(extraction_bytes=batch_bytes, extraction_attempts=1, breaker_failures=100),
        llm=LlmConfig(prompt_tokens=(INSTRUCTIONS_CHARACTERS + prompt_characters) // CHARACTERS_PER_TOKEN),
    )
    storage = await stored(past)
    weak = await live(storage)
    coroner = Coroner(storage)
    trio.lowlevel.add_instrument(coroner)
    async with simulated_daemon(storage=storage, llm=Moody(moods, merges=merges), config=config) as services:
        await services.relearn.relearn(PROJECT, since=None, accept_few=True)
        await services.relearn.relearn(PROJECT, since=None, accept_few=True)
    trio.lowlevel.remove_instrument(coroner)

    for remains in coroner.remains.values():
        await assert_nothing_is_lost_or_doubled(remains, weak)
        async with simulated_daemon(storage=remains, llm=Moody((), merges=merges), config=config) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None, accept_few=True)
        assert (relearned.left, relearned.stopped_because) == (0, None)
        await assert_nothing_is_lost_or_doubled(remains, weak)
        if not merges:
            assert set(await undone(remains)) >= set(weak)
