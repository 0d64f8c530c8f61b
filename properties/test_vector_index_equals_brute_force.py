"""After any changes of an index, a search finds the same as a comparison with every record that is left."""

from __future__ import annotations

import functools
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, unit_rows

START = datetime(2026, 1, 5, tzinfo=UTC)
DICE = np.random.default_rng(20261121)
VECTORS = [*DICE.standard_normal((6, DIMENSION)).astype(np.float32), np.full(DIMENSION, np.nan, np.float32)]
QUERIES = [*DICE.standard_normal((2, DIMENSION)).astype(np.float32), VECTORS[0]]

NAMES = st.integers(0, 11).map(lambda number: RecordId(f"{number:02}"))
NUMBERS = st.integers(0, len(VECTORS) - 1)
PARTS = st.one_of(st.lists(NUMBERS, min_size=1, max_size=1), st.lists(NUMBERS, min_size=2, max_size=4)).map(tuple)
PUT = st.tuples(st.just("put"), NAMES, st.integers(0, 2), PARTS)
REMOVE = st.tuples(st.just("remove"), NAMES, st.just(0), st.just(()))
GO_BACK = st.tuples(st.just("go back"), st.just(RecordId("")), st.integers(0, 50), st.just(()))
COMPACT = st.tuples(st.just("compact"), st.just(RecordId("")), st.just(0), st.just(()))
STORY = st.lists(st.one_of(PUT, PUT, PUT, REMOVE, GO_BACK, COMPACT), max_size=60)

Parts = tuple[int, ...]
Survivors = dict[RecordId, tuple[datetime, Parts]]
"""The time of each record that is left, and its vectors: the whole's, then its windows'."""


@functools.cache
def cosine(vector_number: int, query_number: int) -> float:
    kept = CodedRows.of(unit_rows(VECTORS[vector_number][np.newaxis])).vectors()[0].astype(float)
    query = QUERIES[query_number].astype(float)
    return math.fsum(kept * query) / math.sqrt(math.fsum(query**2))


def nearness(parts: Parts, query_number: int) -> float:
    return (cosine(parts[0], query_number) + max(cosine(part, query_number) for part in parts)) / 2


def brute_force(survivors: Survivors, query_number: int, limit: int, *, wholes_only: bool = False) -> list[RecordId]:
    def place(record_id: RecordId) -> tuple[float, timedelta, RecordId]:
        created_at, parts = survivors[record_id]
        return -nearness(parts[:1] if wholes_only else parts, query_number), START - created_at, record_id

    return sorted(survivors, key=place)[:limit]


def after(
    index: VectorIndex, survivors: Survivors, name: RecordId, day: int, parts: Parts
) -> tuple[VectorIndex, Survivors]:
    created_at = START + timedelta(days=day)
    grown = index.with_record(name, created_at, np.stack([VECTORS[part] for part in parts]))
    return grown, {**survivors, name: (created_at, parts)}


def afresh(survivors: Survivors) -> VectorIndex:
    """A new index of the records that are left."""
    vectors = [VECTORS[part] for _, parts in survivors.values() for part in parts]
    return VectorIndex.of(
        list(survivors),
        [created_at for created_at, _ in survivors.values()],
        np.array(vectors, np.float32).reshape(-1, DIMENSION),
        [len(parts) for _, parts in survivors.values()],
    )


@given(story=STORY, query_number=st.sampled_from(range(3)), limit=st.integers(1, 14))
def test_a_search_equals_brute_force_over_the_survivors(
    story: list[tuple[str, RecordId, int, Parts]], query_number: int, limit: int
) -> None:
    """Each chapter may go on from any earlier index, and no earlier index changes."""
    generations: list[tuple[VectorIndex, Survivors]] = [(VectorIndex(), {})]
    for what, name, number, parts in story:
        index, survivors = generations[-1]
        if what == "put":
            chapter = after(index, survivors, name, number, parts)
        elif what == "remove":
            chapter = index.without(name), {other: kept for other, kept in survivors.items() if other != name}
        elif what == "compact":
            chapter = index.compacted(), survivors
        else:
            chapter = generations[number % len(generations)]
        generations.append(chapter)

    for index, survivors in generations:
        ranking = index.rank(QUERIES[query_number], limit)
        assert [hit.record_id for hit in ranking.hits] == brute_force(survivors, query_number, limit)
        everything = index.rank(QUERIES[query_number], 100).hits
        assert [hit.score for hit in everything] == pytest.approx(
            [nearness(survivors[hit.record_id][1], query_number) for hit in everything], abs=1e-6
        )
        assert len(index) == ranking.count == len(survivors) == len(everything)
        assert everything == afresh(survivors).rank(QUERIES[query_number], 100).hits
        wholes = index.rank(QUERIES[query_number], limit, wholes_only=True)
        assert [hit.record_id for hit in wholes.hits] == brute_force(survivors, query_number, limit, wholes_only=True)
