from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, Matrix, Vector
from kiro_learn.retrieval.ranking.nearness import (
    PRIOR_DEVIATION,
    PRIOR_RECORDS,
    Background,
    ZScores,
    mean_pairwise_cosine_of,
)
from kiro_learn.retrieval.ranking.vector_index import FEW_ROWS, VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import CodedRows, Doubles, unit_rows

NOW = datetime(2026, 1, 5, tzinfo=UTC)
DICE = np.random.default_rng(7)
VECTORS = (DICE.standard_normal((40, DIMENSION)) + 1).astype(np.float32)
NAMES = [RecordId(f"{number:02}") for number in range(40)]
QUERY: Vector = VECTORS[3] + VECTORS[5]


def as_kept(vectors: Matrix) -> Doubles:
    return CodedRows.of(unit_rows(vectors)).vectors().astype(float)


def standings(index: VectorIndex) -> ZScores:
    found = index.rank(QUERY, 5).standings
    assert found is not None
    return found


def whole() -> VectorIndex:
    return VectorIndex.of(NAMES, [NOW] * 40, VECTORS)


def test_deviations_are_those_of_the_cosines_with_the_mean_taken_off() -> None:
    units = as_kept(VECTORS)
    centred, query = units - units.mean(axis=0), QUERY.astype(float) / np.linalg.norm(QUERY) - units.mean(axis=0)
    cosines = centred @ query / np.linalg.norm(centred, axis=1) / np.linalg.norm(query)
    variance = 0.8 * cosines.var() + 0.2 * PRIOR_DEVIATION**2
    expected = (cosines - 0.8 * cosines.mean()) / np.sqrt(variance)
    found = standings(whole())
    assert list(found.deviations(NAMES).values()) == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize(("spread", "tolerance"), [(2.0, 3e-3), (0.4, 3e-3), (0.1, 1e-5)])
def test_what_is_usual_among_many_is_told_by_codes_unless_they_are_too_alike_for_that(
    spread: float, tolerance: float
) -> None:
    """At a spread of 0.1 two records have a mean cosine of 0.99; a product of codes may be wrong by the difference."""
    dice = np.random.default_rng(7)
    middle, *steps = dice.standard_normal((FEW_ROWS + 345, DIMENSION)) / DIMENSION**0.5
    vectors = (middle + spread * np.array(steps)).astype(np.float32)
    names = [RecordId(f"{number:03}") for number in range(len(vectors))]
    query = (middle + spread * steps[3]).astype(np.float32)
    found = VectorIndex.of(names, [NOW] * len(names), vectors).rank(query, 5).standings
    assert found is not None

    units = as_kept(vectors)
    mean = units.mean(axis=0)
    centred, side = units - mean, query.astype(float) / np.linalg.norm(query.astype(float)) - mean
    cosines = centred @ side / np.linalg.norm(centred, axis=1) / np.linalg.norm(side)
    doubt = PRIOR_RECORDS / (len(names) + PRIOR_RECORDS)
    variance = (1 - doubt) * cosines.var() + doubt * PRIOR_DEVIATION**2
    expected = (cosines - (1 - doubt) * cosines.mean()) / np.sqrt(variance)
    deviations = found.deviations(names)
    assert deviations[names[3]] > 5
    assert list(deviations.values()) == pytest.approx(expected.tolist(), rel=tolerance, abs=tolerance)


def test_the_story_of_an_index_changes_no_deviation() -> None:
    index = VectorIndex()
    for name, vector in reversed(list(zip(NAMES, VECTORS, strict=True))):
        index = index.with_record(name, NOW, vector[::-1].copy()[np.newaxis]).with_record(name, NOW, vector[np.newaxis])
    index = index.with_record(RecordId("gone"), NOW, VECTORS[0][np.newaxis]).without(RecordId("gone"))
    story, plain = standings(index), standings(whole())
    assert story.deviations(NAMES) == plain.deviations(NAMES)
    assert story.mean_pairwise_cosine == plain.mean_pairwise_cosine


def test_the_deviation_of_a_long_record_counts_its_whole_and_its_best_window() -> None:
    """So do the deviations of all others, by which a usual deviation is measured."""
    firsts = VECTORS[::2]
    index = VectorIndex.of(NAMES[:20], [NOW] * 20, VECTORS, [2] * 20)
    units = as_kept(VECTORS)
    mean = units[::2].mean(axis=0)
    centred, query = units - mean, QUERY.astype(float) / np.linalg.norm(QUERY) - mean
    each = (centred @ query / np.linalg.norm(centred, axis=1) / np.linalg.norm(query)).reshape(20, 2)
    cosines = (each[:, 0] + each.max(axis=1)) / 2
    doubt = 10 / 30
    expected = (cosines - (1 - doubt) * cosines.mean()) / np.sqrt(
        (1 - doubt) * cosines.var() + doubt * PRIOR_DEVIATION**2
    )
    found = standings(index)
    assert list(found.deviations(NAMES[:20]).values()) == pytest.approx(expected.tolist(), abs=1e-5)
    assert found.mean_pairwise_cosine == standings(VectorIndex.of(NAMES[:20], [NOW] * 20, firsts)).mean_pairwise_cosine


def test_the_story_of_long_records_changes_no_deviation() -> None:
    plain = VectorIndex.of(NAMES[:20], [NOW] * 20, VECTORS, [1, 3] * 10)
    index = VectorIndex()
    for number, name in enumerate(NAMES[:20]):
        first = number // 2 * 4 + number % 2
        index = index.with_record(name, NOW, VECTORS[:3]).with_record(
            name, NOW, VECTORS[first : first + 1 + 2 * (number % 2)]
        )
    for story in (index, index.compacted()):
        assert standings(story).deviations(NAMES[:20]) == standings(plain).deviations(NAMES[:20])


def test_a_record_without_a_vector_or_of_a_later_generation_stands_nowhere() -> None:
    index = whole().without(NAMES[3])
    found = standings(index)
    index.with_record(RecordId("later"), NOW, QUERY[np.newaxis])
    assert found.deviations([RecordId("unknown"), RecordId("later"), NAMES[3]]) == {}


def test_the_only_record_is_as_near_as_usual() -> None:
    index = VectorIndex().with_record(NAMES[0], NOW, VECTORS[0][np.newaxis])
    assert standings(index).deviations(NAMES[:1]) == {NAMES[0]: 0.0}


def test_few_cosines_are_doubted() -> None:
    assert Background.of(np.array([0.4])).deviation == pytest.approx(PRIOR_DEVIATION * np.sqrt(10 / 11))
    assert Background.of(np.full(10_000, 0.4)).mean == pytest.approx(0.4, abs=1e-3)


def test_likeness_is_the_mean_cosine_between_records() -> None:
    assert mean_pairwise_cosine_of(np.array([1.0, 0.0]) * 1000, 1000) == pytest.approx(1.0, abs=1e-3)
    assert mean_pairwise_cosine_of(np.array([0.0, 0.0]), 1000) == 0.0


def test_a_passage_is_measured_as_a_record_of_the_same_vector_is() -> None:
    found = standings(whole())
    passages = found.deviations_of(as_kept(VECTORS).astype(np.float32))
    assert passages == pytest.approx(tuple(found.deviations(NAMES).values()), abs=1e-4)
