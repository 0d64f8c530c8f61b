"""Codes only save comparisons: hits and scores are those of an exact scan of all vectors as they are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, best_first
from kiro_learn.model.vectors import DIMENSION, Matrix
from kiro_learn.retrieval.ranking.vector_index import WHOLES_TOLD, VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, unit_rows

START = datetime(2026, 1, 5, tzinfo=UTC)

SPREADS = st.sampled_from([0.0, 1e-7, 1e-5, 1e-3, 0.03, 0.3, 3.0])
"""The distances within a crowd of vectors: from copies, over vectors with the same codes, to unrelated vectors."""


@st.composite
def crowds(draw: st.DrawFn) -> Matrix:
    """Vectors around one that is random, one-hot, constant, or nearly one-hot; some of them are broken."""
    dice = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    middle = draw(
        st.sampled_from(
            [
                dice.standard_normal(DIMENSION),
                np.eye(DIMENSION)[dice.integers(DIMENSION)],
                np.full(DIMENSION, -1.0),
                np.where(np.arange(DIMENSION) == dice.integers(DIMENSION), 1, 1e-5),
            ]
        )
    )
    middle /= np.linalg.norm(middle)
    steps = dice.standard_normal((draw(st.integers(1, 60)), DIMENSION)) / DIMENSION**0.5
    vectors = (middle + draw(SPREADS) * steps) * draw(st.sampled_from([1, 1e-20, 1e15]))
    for broken in draw(st.lists(st.sampled_from([0.0, np.nan, np.inf, -np.inf]), max_size=2)):
        vectors[dice.integers(len(vectors))] = broken
    found: Matrix = vectors.astype(np.float32)
    return found


@st.composite
def collections(draw: st.DrawFn) -> tuple[Matrix, list[int], frozenset[int]]:
    """Vectors, the count of them for each record, and the removed records."""
    vectors = np.vstack(draw(st.lists(crowds(), min_size=1, max_size=4)))
    row_counts = []
    left = len(vectors)
    windows = st.integers(1, 4) if draw(st.booleans()) else st.just(1)
    while left:
        row_counts.append(min(left, draw(windows)))
        left -= row_counts[-1]
    dead = draw(st.frozensets(st.integers(0, len(row_counts) - 1), max_size=5))
    return vectors, row_counts, dead


def exact(vectors: Matrix, row_counts: list[int], query: Matrix, *, wholes_only: bool) -> list[float]:
    """The nearness of every record, in double precision."""
    cosines = (CodedRows.of(unit_rows(vectors)).vectors().astype(np.float64) * unit_rows(query[np.newaxis])[0]).sum(
        axis=1
    )
    ends = np.cumsum(row_counts)
    found = []
    for start, end in zip(ends - row_counts, ends, strict=True):
        whole, best = cosines[start], cosines[start : start + 1 if wholes_only else end].max()
        found.append(float(whole if best == whole else (whole + best) / 2))
    return found


@given(
    collection=collections(),
    query_number=st.integers(0, 300),
    blur=st.sampled_from([0.0, 1e-4, 0.3]),
    limit=st.sampled_from([1, 2, 5, 10, 100]),
    wholes_only=st.booleans(),
)
def test_the_hits_are_those_of_an_exact_scan(
    collection: tuple[Matrix, list[int], frozenset[int]],
    query_number: int,
    blur: float,
    limit: int,
    wholes_only: bool,
) -> None:
    vectors, row_counts, dead = collection
    names = [RecordId(f"{number:04}") for number in range(len(row_counts))]
    times = [START + timedelta(days=number % 3) for number in range(len(row_counts))]
    index = VectorIndex.of(names, times, vectors, row_counts)
    for number in dead:
        index = index.without(names[number])
    blurring = blur * np.random.default_rng(7).standard_normal(DIMENSION)
    query = (unit_rows(vectors)[query_number % len(vectors)] + blurring).astype(np.float32)

    found = index.rank(query, limit, wholes_only=wholes_only)

    if not unit_rows(query[np.newaxis]).any():
        assert found.hits == ()
        return
    scores = exact(vectors, row_counts, query, wholes_only=wholes_only)
    living = [number for number in range(len(names)) if number not in dead]
    expected = tuple(best_first(Hit(names[number], times[number], scores[number]) for number in living))
    assert found.hits == expected[:limit]
    wholes = sorted((exact(vectors, row_counts, query, wholes_only=True)[number] for number in living), reverse=True)
    assert list(found.nearest_wholes) == wholes[:WHOLES_TOLD]
