"""Whatever the story of an index, a search in it finds what comparing with every survivor finds."""

from __future__ import annotations

import functools
import math
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.vectors import DIMENSION

START = datetime(2026, 1, 5, tzinfo=UTC)
DICE = np.random.default_rng(20261121)
VECTORS = [*DICE.standard_normal((6, DIMENSION)).astype(np.float32), np.full(DIMENSION, np.nan, np.float32)]
QUERIES = [*DICE.standard_normal((2, DIMENSION)).astype(np.float32), VECTORS[0]]

NAMES = st.integers(0, 11).map(lambda number: RecordId(f"{number:02}"))
PUT = st.tuples(st.just("put"), NAMES, st.integers(0, 2), st.integers(0, len(VECTORS) - 1))
REMOVE = st.tuples(st.just("remove"), NAMES, st.just(0), st.just(0))
GO_BACK = st.tuples(st.just("go back"), st.just(RecordId("")), st.integers(0, 50), st.just(0))
STORY = st.lists(st.one_of(PUT, PUT, REMOVE, GO_BACK), max_size=60)

Survivors = dict[RecordId, tuple[datetime, int]]
"""When each was made, and which of VECTORS it has."""


@functools.cache
def cosine(vector_number: int, query_number: int) -> float:
    vector, query = VECTORS[vector_number].astype(float), QUERIES[query_number].astype(float)
    length = math.sqrt(math.fsum(vector**2) * math.fsum(query**2))
    return math.fsum(vector * query) / length if math.isfinite(length) else 0.0


def brute_force(survivors: Survivors, query_number: int, limit: int) -> list[RecordId]:
    def place(record_id: RecordId) -> tuple[float, timedelta, RecordId]:
        created_at, vector_number = survivors[record_id]
        return -cosine(vector_number, query_number), START - created_at, record_id

    return sorted(survivors, key=place)[:limit]


@given(story=STORY, query_number=st.sampled_from(range(3)), limit=st.integers(1, 14))
def test_a_search_equals_brute_force_over_the_survivors(
    story: list[tuple[str, RecordId, int, int]], query_number: int, limit: int
) -> None:
    """Generations branch too: each chapter may go on from any earlier one, and no one's past changes."""
    generations: list[tuple[VectorIndex, Survivors]] = [(VectorIndex(), {})]
    for what, name, number, vector_number in story:
        index, survivors = generations[-1]
        if what == "put":
            created_at = START + timedelta(days=number)
            grown = index.with_record(name, created_at, VECTORS[vector_number])
            chapter = grown, {**survivors, name: (created_at, vector_number)}
        elif what == "remove":
            chapter = index.without(name), {other: kept for other, kept in survivors.items() if other != name}
        else:
            chapter = generations[number % len(generations)]
        generations.append(chapter)

    for index, survivors in generations:
        ranking = index.rank(QUERIES[query_number], limit)
        assert [hit.record_id for hit in ranking.hits] == brute_force(survivors, query_number, limit)
        cosines = [hit.score for hit in index.rank(QUERIES[query_number], 100).hits]
        assert len(index) == ranking.count == len(survivors) == len(cosines)
