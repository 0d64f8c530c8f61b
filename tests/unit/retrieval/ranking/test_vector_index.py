from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking
from kiro_learn.vectors import DIMENSION, Vector

NOW = datetime(2026, 1, 5, tzinfo=UTC)
EAST, NORTH = np.eye(2, DIMENSION, dtype=np.float32)
INVALID = [np.zeros(DIMENSION), np.full(DIMENSION, np.nan), np.full(DIMENSION, np.inf)]


def between(share: float) -> Vector:
    """A unit vector with cosine ``share`` to EAST."""
    vector: Vector = np.float32(share) * EAST + np.float32((1 - share**2) ** 0.5) * NORTH
    return vector


def index_of(**vectors: Vector) -> VectorIndex:
    index = VectorIndex()
    for name, vector in vectors.items():
        index = index.with_record(RecordId(name), NOW, vector)
    return index


def order(ranking: VectorRanking) -> str:
    return "".join(hit.record_id for hit in ranking.hits)


def test_the_nearest_by_angle_come_first_whatever_the_lengths() -> None:
    index = index_of(a=between(0.2), b=1e-20 * between(0.9), c=1e18 * between(0.5))
    ranking = index.rank(EAST, 2)
    assert order(ranking) == "bc"
    assert [hit.score for hit in ranking.hits] == pytest.approx([0.9, 0.5], abs=1e-6)


def test_equal_vectors_tie_and_the_newest_comes_first_then_the_smaller_id() -> None:
    later = NOW + timedelta(seconds=1)
    index = index_of(d=EAST, b=EAST).with_record(RecordId("c"), later, 2 * EAST).with_record(RecordId("a"), NOW, EAST)
    assert order(index.rank(EAST, 3)) == "cab"


def test_equal_vectors_tie_wherever_their_rows_lie() -> None:
    """The last bits of a float32 product depend on the row; a search must not."""
    dice = np.random.default_rng(7)
    vector, query = dice.standard_normal((2, DIMENSION)).astype(np.float32)
    names = [RecordId(f"{number:04}") for number in range(1_030)]
    index = VectorIndex.of(names, [NOW] * len(names), np.tile(vector, (len(names), 1)))
    assert [hit.record_id for hit in index.rank(query, 3).hits] == names[:3]
    assert len({hit.score for hit in index.rank(query, len(names)).hits}) == 1


@pytest.mark.parametrize("invalid", INVALID, ids=["zero", "nan", "infinite"])
def test_an_invalid_vector_scores_zero_and_harms_no_other(invalid: Vector) -> None:
    index = index_of(a=invalid.astype(np.float32), b=between(0.5), c=between(-0.5))
    ranking = index.rank(EAST, 3)
    assert order(ranking) == "bac"
    assert ranking.standings is not None
    assert np.isfinite(list(ranking.standings.deviations(map(RecordId, "abc")).values())).all()


@pytest.mark.parametrize("invalid", INVALID, ids=["zero", "nan", "infinite"])
def test_an_invalid_query_finds_nothing(invalid: Vector) -> None:
    assert index_of(a=EAST).rank(invalid.astype(np.float32), 3) == VectorRanking(count=1)


def test_nothing_is_found_where_nothing_is() -> None:
    assert VectorIndex().rank(EAST, 3) == VectorRanking()
    assert index_of(a=EAST).rank(EAST, 0).hits == ()


def test_a_replaced_vector_is_found_by_its_new_direction_only() -> None:
    index = index_of(a=EAST, b=between(0.5), c=between(0.1)).with_record(RecordId("a"), NOW, NORTH)
    assert len(index) == 3
    assert order(index.rank(EAST, 3)) == "bca"


def test_a_removed_record_is_gone_and_may_come_back() -> None:
    index = index_of(a=EAST, b=NORTH).without(RecordId("a"))
    assert (len(index), order(index.rank(EAST, 3))) == (1, "b")
    assert order(index.with_record(RecordId("a"), NOW, EAST).rank(EAST, 3)) == "ab"


def test_removing_what_is_unknown_changes_the_epoch_alone() -> None:
    index = index_of(a=EAST)
    after = index.without(RecordId("b")).without(RecordId("b"))
    assert (len(after), after.epoch) == (1, index.epoch + 2)


def test_a_search_sees_the_generation_it_began_with() -> None:
    before = index_of(a=EAST, b=NORTH)
    after = before.with_record(RecordId("c"), NOW, EAST).without(RecordId("b"))
    assert order(before.rank(EAST, 9)) == "ab"
    assert order(after.rank(EAST, 9)) == "ac"


def test_two_generations_may_go_on_from_one() -> None:
    root = index_of(a=EAST)
    left, right = (root.with_record(RecordId(name), NOW, between(0.5)) for name in "lr")
    again = root.without(RecordId("a"))
    assert [order(each.rank(EAST, 9)) for each in (root, left, right, again)] == ["a", "al", "ar", ""]


def test_a_compacted_index_is_the_same_generation_without_the_rows_of_the_removed() -> None:
    names = [RecordId(f"{number:04}") for number in range(40)]
    index = VectorIndex.of(names, [NOW] * 40, np.tile(EAST, (40, 1)), epoch=5)
    for name in names[:39]:
        index = index.without(name)
    compacted = index.compacted()
    assert (index.dead_share, compacted.dead_share) == (39 / 40, 0)
    assert (len(compacted), compacted.epoch, order(compacted.rank(EAST, 9))) == (1, index.epoch, "0039")
    assert order(compacted.with_record(RecordId("new"), NOW, EAST).rank(EAST, 9)) == "0039new"


def test_the_parts_of_a_scan_may_be_compared_in_any_order() -> None:
    dice = np.random.default_rng(7)
    names = [RecordId(f"{number:05}") for number in range(5_000)]
    index = VectorIndex.of(names, [NOW] * 5_000, dice.standard_normal((5_000, DIMENSION)).astype(np.float32))
    query = dice.standard_normal(DIMENSION).astype(np.float32)
    scan = index.scan(query)
    first, second = scan.parts
    assert [*first, *second] == list(range(5_000))
    for part in (second, first):
        index.compare(scan, part)
    assert index.ranking(scan, 20) == index.rank(query, 20)


def test_an_index_grows_past_its_blocks() -> None:
    names = [RecordId(f"{number:04}") for number in range(1_023)]
    index = VectorIndex.of(names, [NOW] * 1_023, np.tile(NORTH, (1_023, 1)))
    for name in "abc":
        index = index.with_record(RecordId(name), NOW, EAST)
    assert order(index.rank(EAST, 3)) == "abc"
    assert len(index) == 1_026
