"""Whenever the daemon stops, the next one has all acknowledged events, and learns them once."""

from __future__ import annotations

from collections import Counter

import trio
from hypothesis import strategies as st

from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage

CONFIG = Config(learning=LearningConfig(extraction_bytes=150, buffer_idle_seconds=0.5))


class PonderingLlm(ScriptedLlm):
    """A model that takes a second for each answer."""

    async def complete(self, prompt: str) -> str:
        await trio.sleep(1)
        return await super().complete(prompt)


@scheduled(
    gaps=st.lists(st.floats(0, 1), min_size=1, max_size=15),
    stops=st.lists(st.tuples(st.floats(0, 4), st.booleans()), min_size=1, max_size=4),
)
async def test_a_stop_at_any_moment_loses_nothing(gaps: list[float], stops: list[tuple[float, bool]]) -> None:
    """Daemons stop in order or are cut off, again and again; the last one learns the rest."""
    storage = InMemoryStorage()
    acknowledged: set[int] = set()
    numbers = iter(range(len(gaps)))

    for seconds, is_orderly in stops:
        with trio.CancelScope() as cut:
            async with simulated_daemon(
                storage=storage, llm=PonderingLlm(a_record_per_event), config=CONFIG
            ) as services:
                with trio.move_on_after(seconds):
                    for number in numbers:
                        await trio.sleep(gaps[number])
                        try:
                            await services.capture.take(an_event(number))
                        except KiroLearnError:
                            continue
                        acknowledged.add(number)
                    await trio.sleep_forever()
                if not is_orderly:
                    cut.cancel()

    async with simulated_daemon(storage=storage, llm=PonderingLlm(a_record_per_event), config=CONFIG) as services:
        await trio.sleep(120)
        events = (await services.queries.events(namespace=NAMESPACE, limit=200, cursor=None)).items
        records = (await services.queries.records(namespace=NAMESPACE, limit=500, offset=0)).items

    stored = {event.event_id for event in events}
    assert {an_event(number).event_id for number in acknowledged} <= stored
    assert Counter(event_id for record in records for event_id in record.source_event_ids) == Counter(stored)
