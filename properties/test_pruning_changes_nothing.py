from __future__ import annotations

import functools
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.storage.interface import SearchParams
from kiro_learn.storage.sqlite.search import rank_by_words
from kiro_learn.storage.sqlite.storage import SqliteStorage
from properties.sqlite_files import with_sqlite
from properties.stories import EVENT_IDS, NAMESPACES, START, put_record

MINE = NAMESPACES[0]
TREES = ("oak", "elm", "fir", "ash", "yew", "bay", "fig", "box")
RARE_TO_COMMON = [word for count, word in enumerate(TREES, 1) for _ in range(count)]

some_words = st.lists(st.sampled_from(RARE_TO_COMMON), min_size=1, max_size=3).map(" ".join)
queries = st.lists(st.sampled_from(RARE_TO_COMMON), min_size=2, max_size=6).map(" ".join)


def short_record(number: int, title: str, minute: int) -> MemoryRecord:
    return MemoryRecord(
        record_id=RecordId(f"mr_{number:026}"),
        namespace=MINE,
        strategy="test",
        title=title,
        summary="-",
        observation_type=ObservationType.PATTERN,
        source_event_ids=(EVENT_IDS[0],),
        created_at=START + timedelta(minutes=minute),
    )


@given(
    titles=st.lists(some_words, min_size=5, max_size=40),
    query=queries,
    limit=st.integers(1, 4),
    probe_count=st.integers(0, 1),
)
def test_pruning_changes_nothing(titles: list[str], query: str, limit: int, probe_count: int) -> None:
    """A search that leaves out what cannot reach the top answers exactly as one that scores everything."""
    params = SearchParams(MINE, query, limit)

    async def live(store: SqliteStorage) -> None:
        found = (short_record(number, title, number % 3) for number, title in enumerate(titles))
        await store.transact([put_record(record) for record in found])
        pruned = await store._readers.read(functools.partial(rank_by_words, params=params, probe_count=probe_count))
        assert pruned == await store._readers.read(functools.partial(rank_by_words, params=params, probe_count=10**9))

    with_sqlite(live)
