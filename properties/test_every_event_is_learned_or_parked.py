"""An acknowledged event waits, is visibly parked, or is learned; in the end it is learned once.

This holds for any answers of learner, judge, compactor and store, and however late they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import trio
from hypothesis import strategies as st

from kiro_learn.config import CompactionConfig, Config, LearningConfig, ReconciliationConfig
from kiro_learn.errors import LlmError
from kiro_learn.model.ids import EventId
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.actors.patient import Patient, cited_events, keep_separate, once_each
from tests.unit.pipelines.learn.learning_rig import PickyStorage, merge_all

CONFIG = Config(
    learning=LearningConfig(
        extraction_bytes=100,
        buffer_idle_seconds=1.0,
        turn_idle_seconds=1.0,
        extraction_attempts=1,
        extraction_seconds=2.0,
        retry_seconds=0.5,
        breaker_failures=2,
        breaker_cooldown_seconds=5.0,
        project_idle_seconds=60.0,
    ),
    compaction=CompactionConfig(threshold_bytes=80, ceiling_bytes=150, attempts=1, failures=1, model_seconds=5.0),
    reconciliation=ReconciliationConfig(judge_seconds=5.0, judge_attempts=1),
)

FATES = ["well", "well", "error", "garbage", "late", "never"]


class Fickle(Patient):
    """A model with a fate for each question, which is well after the last one. It never learns a ``bad`` event."""

    def __init__(self, fates: list[str], bad: frozenset[int], *, merges: bool, splits: bool) -> None:
        super().__init__(compact=two_entries if splits else one_short_entry)
        self.judge = merge_all if merges else keep_separate
        self._fates = iter(fates)
        self._bad = [f"<text>event {number}</text>" for number in bad]

    async def complete(self, prompt: str) -> str:
        match next(self._fates, "well"):
            case "error":
                raise LlmError("out of sorts")
            case "garbage":
                return "As I said: <memory_record>, <merge> and <compacted_entry>."
            case "late":
                await trio.sleep(1.5)
            case "never":
                await trio.sleep_forever()
        if any(text in prompt for text in self._bad):
            raise LlmError("the content filter refuses it")
        return await super().complete(prompt)


def one_short_entry(_prompt: str) -> str:
    return "<compacted_entry>c</compacted_entry>"


def two_entries(prompt: str) -> str:
    """A compaction of the batch into two entries."""
    lines = [line for line in prompt.split("\n") if line.startswith("<event ") and 'context="true"' not in line]
    numbers = [line.split('"')[1] for line in lines]
    half = (len(numbers) + 1) // 2
    return "".join(
        f'<compacted_entry events="{" ".join(part)}">c</compacted_entry>'
        for part in (numbers[:half], numbers[half:])
        if part
    )


async def accounted_for(storage: InMemoryStorage) -> Counter[EventId]:
    """The places of each stored event at one moment: waiting, set aside, in a parked cluster or in a live record."""
    frozen = storage.copied()
    await transact_one(frozen, lambda tx: tx.unpark_buffer(NAMESPACE, most_bytes=10**9))
    found: Counter[EventId] = Counter()
    found.update((await frozen.snapshot_buffer(NAMESPACE, most_bytes=10**9)).source_event_ids)
    for cluster in await frozen.list_parked_clusters(NAMESPACE):
        found.update({event_id for record in cluster.records for event_id in record.source_event_ids})
    page = await frozen.list_memory_records(namespace=NAMESPACE, limit=1000, offset=0)
    found.update(event_id for record in page.items for event_id in record.source_event_ids)
    return found


@scheduled(
    gaps=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    fates=st.lists(st.sampled_from(FATES), max_size=25),
    bad=st.frozensets(st.integers(0, 19), max_size=3),
    refusals=st.lists(st.booleans(), max_size=10),
    merges=st.booleans(),
    splits=st.booleans(),
)
async def test_no_answer_of_any_learner_loses_an_event(
    *, gaps: list[float], fates: list[str], bad: frozenset[int], refusals: list[bool], merges: bool, splits: bool
) -> None:
    """Each event is in exactly one place at every moment; once all is well and time has passed, in one record."""
    refused: Iterator[bool] = iter(refusals)
    storage = PickyStorage(lambda _title: next(refused, False))
    model = Fickle(fates, bad, merges=merges, splits=splits)

    async with simulated_daemon(storage=storage, llm=model, config=CONFIG) as services:
        for number, gap in enumerate(gaps):
            await trio.sleep(gap)
            await services.capture.take(an_event(number, session=str(number % 3)))
            assert await accounted_for(storage) == once_each(range(number + 1))
        for _ in range(40):
            await trio.sleep(25)
            assert await accounted_for(storage) == once_each(range(len(gaps)))
        assert await cited_events(services) == once_each(range(len(gaps)))
        status = await services.health.status()

    assert (status.waiting.event_count, status.waiting.parked_event_count) == (0, 0)
    assert await storage.list_parked_clusters(NAMESPACE) == []
