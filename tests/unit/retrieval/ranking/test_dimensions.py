"""Vectors may have any length up to 1,024; an index takes the length from the data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kiro_learn.adapters.onnx.code_product import GRAPH, open_product
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import MOST_DIMENSIONS, ModelIdentity
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, expected_bytes
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, multiply_codes, unit_rows

DAWN = datetime(2026, 1, 5, tzinfo=UTC)
DIMENSIONS = (1, 3, 100, 768, MOST_DIMENSIONS)
COUNT = 300


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("by_onnx", [False, True], ids=["numpy", "onnx"])
def test_the_nearest_are_found_by_exact_cosines(dimension: int, *, by_onnx: bool) -> None:
    dice = np.random.default_rng(dimension)
    vectors = (dice.standard_normal((COUNT, dimension)) + 0.3).astype(np.float32)
    query = (dice.standard_normal(dimension) + 0.3).astype(np.float32)
    names = [RecordId(f"{number:03d}") for number in range(COUNT)]
    moments = [DAWN + timedelta(minutes=number) for number in range(COUNT)]
    index = VectorIndex.of(names, moments, vectors)
    kept = CodedRows.of(unit_rows(vectors)).vectors().astype(float)
    cosines = (kept * unit_rows(query[np.newaxis])[0]).sum(axis=1)
    best = sorted(range(COUNT), key=lambda number: (-cosines[number], -number))[:10]
    ranking = index.rank(query, 10, product=open_product(GRAPH) if by_onnx else multiply_codes)
    assert [hit.record_id for hit in ranking.hits] == [names[number] for number in best]
    assert ranking.standings is not None
    assert len(ranking.standings.deviations(names)) == COUNT


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_record_comes_and_goes(dimension: int) -> None:
    model = ModelIdentity("other", "b" * 64, dimension)
    index = VectorIndex.of([], [], np.empty((0, dimension), np.float32), model=model)
    ones = np.ones((2, dimension), np.float32)
    index = index.with_record(RecordId("a"), DAWN, ones).with_record(RecordId("b"), DAWN, -ones)
    assert [hit.record_id for hit in index.rank(ones[0], 9).hits] == ["a", "b"]
    index = index.without(RecordId("b")).compacted()
    assert [hit.record_id for hit in index.rank(ones[0], 9).hits] == ["a"]
    assert index.model == model
    assert index.without(RecordId("a")).rank(ones[0], 9).hits == ()


def test_longer_vectors_take_more_room() -> None:
    assert expected_bytes(1_000, 10, dimension=768) - expected_bytes(1_000, 10) == 1_010 * 2 * 384
