"""An event that arrives during a run is learned by a later one. No event is learned twice or dropped."""

from __future__ import annotations

from collections import Counter

import trio
from hypothesis import strategies as st

from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import LlmError
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import scheduled

CONFIG = Config(
    learning=LearningConfig(
        extraction_bytes=120,
        buffer_idle_seconds=1.0,
        turn_idle_seconds=1.0,
        extraction_attempts=1,
        retry_seconds=0.5,
        breaker_cooldown_seconds=5.0,
    )
)


class SlowLlm(ScriptedLlm):
    """A model that takes time for each answer, and fails when a test wants it."""

    def __init__(self, seconds: list[float], failures: list[bool]) -> None:
        super().__init__(a_record_per_event)
        self._seconds = iter(seconds)
        self._failures = iter(failures)

    async def complete(self, prompt: str) -> str:
        await trio.sleep(next(self._seconds, 0.0))
        if next(self._failures, False):
            raise LlmError("out of sorts")
        return await super().complete(prompt)


@scheduled(
    gaps=st.lists(st.floats(0, 3), min_size=1, max_size=20),
    seconds=st.lists(st.floats(0, 5), max_size=20),
    failures=st.lists(st.booleans(), max_size=6),
)
async def test_every_event_is_learned_exactly_once(
    gaps: list[float], seconds: list[float], failures: list[bool]
) -> None:
    """In any order of arrivals, slow runs and failed runs."""
    async with simulated_daemon(llm=SlowLlm(seconds, failures), config=CONFIG) as services:
        for number, gap in enumerate(gaps):
            await trio.sleep(gap)
            await services.capture.take(an_event(number))
        await trio.sleep(300)
        records = (await services.queries.records(namespace=NAMESPACE, limit=500, offset=0)).items
        status = await services.health.status()

    learned = Counter(event_id for record in records for event_id in record.source_event_ids)
    assert learned == Counter(an_event(number).event_id for number in range(len(gaps)))
    assert status.waiting.event_count == 0
