from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend
from properties.sqlite_files import with_sqlite
from properties.stories import NAMESPACES, put_record, records, texts

MINE = NAMESPACES[0]


@given(found=st.lists(records(of=st.just(MINE)), max_size=8), query=texts, order=st.randoms(use_true_random=False))
def test_search_is_deterministic(found: list[MemoryRecord], query: str, order: object) -> None:
    """The same records give the same ranking, in any order of arrival, however often it is asked."""
    numbered = [attrs.evolve(item, record_id=RecordId(f"mr_{number:026}")) for number, item in enumerate(found)]
    shuffled = list(numbered)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random, which has no strategy type
    rankings = [_ranking(arrival, query) for arrival in (numbered, shuffled)]
    assert rankings[0] == rankings[1]


def _ranking(arrival: list[MemoryRecord], query: str) -> LexicalRanking:
    async def live(store: StorageBackend) -> LexicalRanking:
        await store.transact([put_record(record) for record in arrival])
        first = await store.rank_by_words(SearchParams(MINE, query, 5))
        assert await store.rank_by_words(SearchParams(MINE, query, 5)) == first
        keys = [(-hit.score, -hit.created_at.timestamp(), hit.record_id) for hit in first.hits]
        assert keys == sorted(keys)
        return first

    return with_sqlite(live)
