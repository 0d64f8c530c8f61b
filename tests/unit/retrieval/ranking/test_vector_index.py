from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, Vector
from kiro_learn.retrieval.ranking.vector_index import VectorIndex, VectorRanking

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
        index = index.with_record(RecordId(name), NOW, vector[np.newaxis])
    return index


def order(ranking: VectorRanking) -> str:
    return "".join(hit.record_id for hit in ranking.hits)


def test_the_nearest_by_angle_come_first_whatever_the_lengths() -> None:
    index = index_of(a=between(0.2), b=1e-20 * between(0.9), c=1e18 * between(0.5))
    ranking = index.rank(EAST, 2)
    assert order(ranking) == "bc"
    assert [hit.score for hit in ranking.hits] == pytest.approx([0.9, 0.5], abs=2e-5)


def test_equal_vectors_tie_and_the_newest_comes_first_then_the_smaller_id() -> None:
    later = NOW + timedelta(seconds=1)
    index = (
        index_of(d=EAST, b=EAST)
        .with_record(RecordId("c"), later, 2 * EAST[np.newaxis])
        .with_record(RecordId("a"), NOW, EAST[np.newaxis])
    )
    assert order(index.rank(EAST, 3)) == "cab"


def test_equal_vectors_tie_wherever_their_rows_lie() -> None:
    """The last bits of a float32 product depend on the row; the result of a search must not."""
    dice = np.random.default_rng(7)
    vector, query = dice.standard_normal((2, DIMENSION)).astype(np.float32)
    names = [RecordId(f"{number:04}") for number in range(4_100)]
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
    index = index_of(a=EAST, b=between(0.5), c=between(0.1)).with_record(RecordId("a"), NOW, NORTH[np.newaxis])
    assert len(index) == 3
    assert order(index.rank(EAST, 3)) == "bca"


def test_a_removed_record_is_gone_and_may_come_back() -> None:
    index = index_of(a=EAST, b=NORTH).without(RecordId("a"))
    assert (len(index), order(index.rank(EAST, 3))) == (1, "b")
    assert order(index.with_record(RecordId("a"), NOW, EAST[np.newaxis]).rank(EAST, 3)) == "ab"


def test_removing_what_is_unknown_changes_the_epoch_alone() -> None:
    index = index_of(a=EAST)
    after = index.without(RecordId("b")).without(RecordId("b"))
    assert (len(after), after.epoch) == (1, index.epoch + 2)


def test_a_search_sees_the_generation_it_began_with() -> None:
    before = index_of(a=EAST, b=NORTH)
    after = before.with_record(RecordId("c"), NOW, EAST[np.newaxis]).without(RecordId("b"))
    assert order(before.rank(EAST, 9)) == "ab"
    assert order(after.rank(EAST, 9)) == "ac"


def test_two_generations_may_go_on_from_one() -> None:
    root = index_of(a=EAST)
    left, right = (root.with_record(RecordId(name), NOW, between(0.5)[np.newaxis]) for name in "lr")
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
    assert order(compacted.with_record(RecordId("new"), NOW, EAST[np.newaxis]).rank(EAST, 9)) == "0039new"


def test_a_long_record_is_as_near_as_its_whole_and_its_best_window_on_average() -> None:
    long = np.stack([between(0.4), between(0.1), between(0.8), between(-0.5)])
    index = index_of(short=between(0.5)).with_record(RecordId("long"), NOW, long)
    (first, second) = index.rank(EAST, 9).hits
    assert [first.record_id, second.record_id] == ["long", "short"]
    assert [first.score, second.score] == pytest.approx([0.6, 0.5], abs=2e-5)
    assert [hit.record_id for hit in index.rank(EAST, 9, wholes_only=True).hits] == ["short", "long"]
    assert (len(index), index.row_count) == (2, 5)


def test_the_nearest_wholes_are_told_whatever_the_hits_are() -> None:
    index = VectorIndex()
    for number in range(8):
        index = index.with_record(RecordId(str(number)), NOW, np.stack([between(number / 10), EAST]))
    ranking = index.without(RecordId("7")).rank(EAST, 1)
    assert ranking.nearest_wholes == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2], abs=2e-5)
    assert index_of(a=between(0.4)).rank(EAST, 9).nearest_wholes == pytest.approx([0.4], abs=2e-5)


def test_no_window_is_nearer_than_the_whole_when_the_whole_is_nearest() -> None:
    index = VectorIndex().with_record(RecordId("a"), NOW, np.stack([between(0.7), between(0.2)]))
    assert index.rank(EAST, 1).hits == index_of(a=between(0.7)).rank(EAST, 1).hits


def test_windows_go_with_their_record() -> None:
    long = np.stack([between(0.1), EAST])
    index = index_of(a=between(0.5)).with_record(RecordId("b"), NOW, long).with_record(RecordId("c"), NOW, long)
    after = index.without(RecordId("b")).with_record(RecordId("c"), NOW, between(0.4)[np.newaxis])
    assert order(after.rank(EAST, 9)) == order(after.compacted().rank(EAST, 9)) == "ac"
    assert order(index.rank(EAST, 9)) == "bca"
    assert after.compacted().row_count == 2


def test_an_index_grows_past_its_blocks() -> None:
    names = [RecordId(f"{number:04}") for number in range(4_095)]
    index = VectorIndex.of(names, [NOW] * 4_095, np.tile(NORTH, (4_095, 1)))
    for name in "abc":
        index = index.with_record(RecordId(name), NOW, EAST[np.newaxis])
    assert order(index.rank(EAST, 3)) == "abc"
    assert len(index) == 4_098
