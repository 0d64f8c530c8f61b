"""Two daemons over one store: each event is learned once, by the daemon that comes first, and none is forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import trio
from hypothesis import settings
from hypothesis import strategies as st

from kiro_learn.config import Config, LearningConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.namespace import project_id_in
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import a_record_per_event
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.actors.patient import Patient, out_of_sorts
from tests.unit.pipelines.learn.learning_rig import PickyStorage

CONFIG = Config(learning=LearningConfig(extraction_bytes=120, buffer_idle_seconds=0.5, retry_seconds=0.5))

Arrival = tuple[int, float, bool, bool]
"""The daemon that gets the event, the pause before it, whether models are well, and whether the store is."""

ARRIVALS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 1.0]), st.booleans(), st.booleans()), min_size=1, max_size=8
)


async def learn_all(services: Services) -> None:
    for _ in range(20):
        try:
            await services.learn.flush(project_id_in(NAMESPACE))
        except KiroLearnError:  # the other daemon learns it right now
            await trio.sleep(1.0)
        else:
            return


async def live_together(storage: PickyStorage, arrivals: Sequence[Arrival]) -> None:
    model = Patient()
    async with (
        simulated_daemon(storage=storage, llm=model, config=CONFIG) as one,
        simulated_daemon(storage=storage, llm=model, config=CONFIG) as other,
    ):
        for number, (receiver, pause, is_well, is_taken) in enumerate(arrivals):
            model.learn = a_record_per_event if is_well else out_of_sorts
            storage.refuses = (lambda _title: False) if is_taken else (lambda _title: True)
            await trio.sleep(pause)
            await (one, other)[receiver].capture.take(an_event(number, session=str(number % 2)))
        model.learn, storage.refuses = a_record_per_event, lambda _title: False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(learn_all, one)
            nursery.start_soon(learn_all, other)
        await trio.sleep(30)


async def cited_in(storage: InMemoryStorage) -> Counter[str]:
    page = await storage.list_memory_records(namespace=NAMESPACE, limit=1000, offset=0)
    return Counter(event_id for record in page.items for event_id in record.source_event_ids)


@settings(max_examples=max(1, settings().max_examples // 2))
@scheduled(arrivals=ARRIVALS)
async def test_each_event_is_learned_once_whoever_learns_it(arrivals: list[Arrival]) -> None:
    storage = PickyStorage(lambda _title: False)
    await live_together(storage, arrivals)
    cited = await cited_in(storage)
    assert set(cited.values()) == {1}
    assert len(cited) == len(arrivals)
    assert await storage.list_buffers() == {}
    assert await storage.list_parked_clusters(None) == []
