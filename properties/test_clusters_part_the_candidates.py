"""Every candidate is in one cluster, close ones are in the same, and a higher threshold only splits clusters."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.reconciliation.plan import ROUNDING, cluster
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.vectors import DIMENSION, Parts
from kiro_learn.testing.daemon import a_record

THRESHOLDS = st.floats(0, 1)
SPOTS = st.none() | st.tuples(*[st.integers(-3, 3)] * 3)


def pointing(spot: tuple[int, ...] | None) -> Parts | None:
    """Vectors that point to ``spot``. The window's vector points elsewhere, which makes no difference."""
    if spot is None:
        return None
    vectors = np.ones((2, DIMENSION), np.float32)
    vectors[0] = 0
    vectors[0, : len(spot)] = spot
    return vectors


CANDIDATES = st.lists(SPOTS, max_size=12).map(
    lambda spots: [Candidate(a_record(number), pointing(spot)) for number, spot in enumerate(spots)]
)


def parts(candidates: list[Candidate], threshold: float) -> set[frozenset[str]]:
    found = cluster(candidates, threshold=threshold)
    return {frozenset(member.record.record_id for member in one.members) for one in found}


def is_usable(candidate: Candidate) -> bool:
    return candidate.vector is not None and bool(candidate.vector.any())


def cosine(one: Candidate, other: Candidate) -> float:
    assert one.vector is not None
    assert other.vector is not None
    lengths = np.linalg.norm(one.vector) * np.linalg.norm(other.vector)
    return float(one.vector.astype(np.float64) @ other.vector / lengths)


@given(candidates=CANDIDATES, threshold=THRESHOLDS)
def test_they_are_a_partition_in_order_and_close_ones_are_together(
    candidates: list[Candidate], threshold: float
) -> None:
    found = cluster(candidates, threshold=threshold)
    order = {candidate.record.record_id: place for place, candidate in enumerate(candidates)}
    places = [[order[member.record.record_id] for member in one.members] for one in found]
    assert sorted(place for members in places for place in members) == list(range(len(candidates)))
    assert places == sorted(sorted(members) for members in places)
    home = {place: number for number, members in enumerate(places) for place in members}
    for left, one in enumerate(candidates):
        for right, other in enumerate(candidates[:left]):
            if is_usable(one) and is_usable(other) and cosine(one, other) >= threshold:
                assert home[left] == home[right]


@given(candidates=CANDIDATES, thresholds=st.tuples(THRESHOLDS, THRESHOLDS).map(sorted))
def test_a_stricter_threshold_parts_further(candidates: list[Candidate], thresholds: list[float]) -> None:
    loose, strict = (parts(candidates, threshold) for threshold in thresholds)
    assert all(any(small <= large for large in loose) for small in strict)


@given(candidates=CANDIDATES, threshold=THRESHOLDS, data=st.data())
def test_the_order_of_the_candidates_does_not_matter(
    candidates: list[Candidate], threshold: float, data: st.DataObject
) -> None:
    assert parts(data.draw(st.permutations(candidates)), threshold) == parts(candidates, threshold)


@given(candidates=CANDIDATES, threshold=THRESHOLDS)
def test_a_centroid_has_unit_length_or_is_none(candidates: list[Candidate], threshold: float) -> None:
    for one in cluster(candidates, threshold=threshold):
        if not all(map(is_usable, one.members)):
            assert len(one.members) == 1, "without a vector, alone"
            assert one.centroid is None
        elif one.centroid is not None:
            assert abs(float(np.linalg.norm(one.centroid)) - 1) < 1e-5
            assert all(-1 - ROUNDING <= one.similarity(member) <= 1 + ROUNDING for member in one.members)
