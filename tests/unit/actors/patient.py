"""A model whose health a test decides: it learns, compacts and judges by the test's scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import trio

from kiro_learn.actors.project import ProjectStatistics
from kiro_learn.config import CompactionConfig, Config, LearningConfig, ReconciliationConfig
from kiro_learn.errors import LlmError
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.models import Script, ScriptedLlm, a_record_per_event


def out_of_sorts(_prompt: str) -> str:
    raise LlmError("out of sorts")


def one_entry(_prompt: str) -> str:
    return "<compacted_entry>all of it</compacted_entry>"


def keep_separate(_prompt: str) -> str:
    return "<keep_separate/>"


APART = ReconciliationConfig(enabled=False)
"""Settings without merging, since the scripted learner's first records of all batches say the same."""

LEARNING = LearningConfig(extraction_attempts=1, retry_seconds=10.0, breaker_failures=100)


class Patient(ScriptedLlm):
    """Answers each sort of prompt by its own script, which a test may exchange, and notes what it was asked for."""

    strategy = MODEL_STRATEGY
    name = "patient"

    def __init__(self, learn: Script = a_record_per_event, compact: Script = one_entry) -> None:
        super().__init__(self._answer)
        self.learn = learn
        self.compact = compact
        self.judge: Script = keep_separate
        self.asked: Counter[str] = Counter()

    def _answer(self, prompt: str) -> str:
        sort, script = "learning", self.learn
        if "<compaction_request>\n" in prompt:
            sort, script = "compaction", self.compact
        elif "<reconciliation_request>\n" in prompt:
            sort, script = "judging", self.judge
        self.asked[sort] += 1
        return script(prompt)


async def cited_events(services: Services) -> Counter[EventId]:
    """How many live records cite each event."""
    page = await services.queries.records(namespace=NAMESPACE, limit=1000, offset=0)
    return Counter(event_id for record in page.items for event_id in record.source_event_ids)


async def wait_cited(services: Services, count: int, *, patience_seconds: float) -> None:
    """Wait until live records cite so many events."""
    for _ in range(int(patience_seconds)):
        if len(await cited_events(services)) >= count:
            return
        await trio.sleep(1)
    raise AssertionError(f"after {patience_seconds} s, {len(await cited_events(services))} events are learned")


def once_each(numbers: Iterable[int]) -> Counter[EventId]:
    return Counter(an_event(number).event_id for number in numbers)


def config(**compaction: float) -> Config:
    """Settings with small buffers: an event of these tests has about 130 bytes."""
    settings = {"threshold_bytes": 700, "ceiling_bytes": 100_000, "attempts": 1, **compaction}
    return Config(learning=LEARNING, reconciliation=APART, compaction=CompactionConfig(**settings))  # type: ignore[arg-type]  # whole numbers all


async def take(services: Services, numbers: range) -> None:
    for number in numbers:
        await services.capture.take(an_event(number, text=f"event {number} " + "x" * 90))


async def project(services: Services) -> ProjectStatistics:
    (statistics,) = (await services.health.status()).projects
    return statistics


def put_unseen(number: int, transaction: StorageTransaction) -> None:
    """Put an event of 10 bytes into the buffer without notifying any actor."""
    transaction.put_event(an_event(number), size_bytes=10, buffered=True)
