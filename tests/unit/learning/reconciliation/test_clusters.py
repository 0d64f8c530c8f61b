from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.learning.reconciliation.plan import Cluster, cluster
from kiro_learn.learning.relearning import Candidate
from kiro_learn.testing.daemon import a_record
from tests.unit.learning.reconciliation.builders import a_candidate, at_degrees, ids

COSINE_OF_30 = 0.8660


def numbers(clusters: list[Cluster]) -> list[list[int]]:
    return [[int(record_id[-4:]) for record_id in ids(found.members)] for found in clusters]


def test_those_that_are_close_are_together_and_keep_their_order() -> None:
    found = cluster([a_candidate(1, 0), a_candidate(2, 90), a_candidate(3, 10), a_candidate(4, 95)], threshold=0.85)

    assert numbers(found) == [[1, 3], [2, 4]]


def test_one_in_the_middle_connects_two_that_are_far_apart() -> None:
    assert numbers(cluster([a_candidate(1, 0), a_candidate(2, 50), a_candidate(3, 25)], threshold=0.9)) == [[1, 2, 3]]


@pytest.mark.parametrize(("threshold", "expected"), [(COSINE_OF_30, [[1, 2]]), (COSINE_OF_30 + 0.001, [[1], [2]])])
def test_the_threshold_itself_is_close_enough(threshold: float, expected: list[list[int]]) -> None:
    assert numbers(cluster([a_candidate(1, 0), a_candidate(2, 30)], threshold=threshold)) == expected


def test_equal_vectors_meet_at_any_threshold() -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    twins = [Candidate(a_record(number), vector[np.newaxis]) for number in (1, 2)]

    assert numbers(cluster(twins, threshold=1.0)) == [[1, 2]]


def test_a_candidate_without_a_usable_vector_is_alone_at_any_threshold() -> None:
    unusable = Candidate(a_record(4), np.full((1, 384), np.nan, np.float32))
    found = cluster([a_candidate(1), a_candidate(2, None), a_candidate(3, None), unusable], threshold=0.0)

    assert numbers(found) == [[1], [2], [3], [4]]
    assert [one.centroid is None for one in found] == [False, True, True, True]


def test_the_centroid_lies_between_the_members_and_has_unit_length() -> None:
    far_out = Candidate(a_record(2), at_degrees(40)[np.newaxis] * 7)
    centroid = Cluster.of([a_candidate(1, 0), far_out]).centroid

    assert centroid is not None
    assert np.allclose(centroid, at_degrees(20), atol=1e-6), "each member counts once, however long its vector"


def test_members_that_cancel_out_have_no_centroid() -> None:
    assert Cluster.of([a_candidate(1, 0), a_candidate(2, 180)]).centroid is None


def test_one_member_without_a_vector_leaves_a_cluster_without_a_centroid() -> None:
    assert Cluster.of([a_candidate(1), a_candidate(2, None)]).centroid is None


def test_no_candidates_are_no_clusters() -> None:
    assert cluster([], threshold=0.85) == []
