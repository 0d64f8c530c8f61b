from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.interface import StorageBackend, Work
from properties.sqlite_files import with_sqlite
from properties.stories import answers, events, put_event, put_record, questions_about, records, texts

MINE = namespace_of("ann", "mine")
OTHERS = [namespace_of("a_n", "mine"), namespace_of("ann", "min_"), namespace_of("ann", "mine2")]


@given(
    mine=st.lists(records(of=st.just(MINE)), max_size=6),
    others=st.lists(st.tuples(records(of=st.sampled_from(OTHERS)), events()), max_size=12),
    query=texts,
)
def test_others_change_nothing_in_mine(
    mine: list[MemoryRecord], others: list[tuple[MemoryRecord, Event]], query: str
) -> None:
    """Records of other namespaces change neither the results in mine, nor their order, nor their scores."""

    async def live(store: StorageBackend) -> None:
        await store.transact([put_record(record) for record in mine])
        before = await answers(store, questions_about(MINE, query))
        works: list[Work[Any]] = []
        for number, (record, event) in enumerate(others, start=100):
            works.append(put_record(attrs.evolve(record, record_id=RecordId(f"mr_{number:026}"))))
            works.append(put_event(attrs.evolve(event, event_id=EventId(f"{number:026}")), 1, buffered=True))
        await store.transact(works)
        assert await answers(store, questions_about(MINE, query)) == before

    with_sqlite(live)
