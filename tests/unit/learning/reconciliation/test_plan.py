from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from kiro_learn.learning.reconciliation.plan import Cluster, Merge, Neighbor, cluster, plan, unredacted_record
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.retrieval.ranking.succession import replacing
from kiro_learn.testing.daemon import a_record
from tests.unit.learning.reconciliation.builders import a_candidate, a_neighbor, at_degrees, ids

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NEW_ID = RecordId("mr_07ZZZZZZZZZZZZZZZZZZZZZZZZ")

CLUSTER = Cluster.of([a_candidate(1, 0), a_candidate(2, 10), a_candidate(3, 35)])
NEIGHBORS = [a_neighbor(4, 0.95), a_neighbor(5, 0.85)]


def citing(*numbers: int, **fields: object) -> Merge:
    cited = tuple(ids([a_candidate(number) for number in numbers]))
    return Merge(**{"record_ids": cited, "title": "T", "summary": "S", **fields})  # type: ignore[arg-type]  # whatever fields a test names


def merged(cluster: Cluster, neighbors: Sequence[Neighbor], wording: Merge) -> MemoryRecord:
    (merge,) = plan(cluster, neighbors, [wording]).merges
    return unredacted_record(merge, record_id=NEW_ID, strategy="llm-reconciled", created_at=NOW)


def test_a_merge_has_those_that_were_cited_and_no_others() -> None:
    (merge,) = plan(CLUSTER, NEIGHBORS, [citing(3, 1, 5)]).merges

    assert ids(merge.records) == ids([a_candidate(number) for number in (1, 3, 5)])


@pytest.mark.parametrize(("numbers", "unknown_count"), [((4,), 0), ((1, 77), 1), ((77, 78), 2), ((1, 1), 0)])
def test_fewer_than_two_known_records_are_no_merge(numbers: tuple[int, ...], unknown_count: int) -> None:
    planned = plan(CLUSTER, NEIGHBORS, [citing(*numbers)])

    assert (planned.merges, planned.unknown_count) == ((), unknown_count)


def test_stored_records_are_not_told_as_one_without_something_new() -> None:
    assert plan(CLUSTER, NEIGHBORS, [citing(4, 5)]).merges == ()


def test_a_record_is_told_in_one_merge_only() -> None:
    planned = plan(CLUSTER, NEIGHBORS, [citing(1, 4), citing(4, 2), citing(2, 5)])

    assert [ids(merge.records) for merge in planned.merges] == [
        ids([a_candidate(number) for number in pair]) for pair in ((1, 4), (2, 5))
    ]


def test_a_merge_cites_the_events_of_all_members_first_each_once() -> None:
    first, second = a_candidate(1, source_event_ids=_events(3, 1)), a_candidate(2, source_event_ids=_events(1, 2))
    neighbors = [
        a_neighbor(4, 0.95, source_event_ids=_events(9, 3)),
        a_neighbor(5, 0.85, source_event_ids=_events(8, 2)),
    ]

    record = merged(Cluster.of([first, second]), neighbors, citing(5, 4, 2, 1))

    assert record.source_event_ids == _events(3, 1, 2, 9, 8)


def test_concepts_and_files_of_all_are_kept_and_facts_are_the_wording_s() -> None:
    member = a_candidate(1, concepts=("cache",), files_modified=("a.py",), files_touched=("a.py",), facts=("old",))
    neighbor = a_neighbor(4, concepts=("disk",), files_read=("b.py",), files_touched=("b.py",))

    record = merged(
        Cluster.of([member]), [neighbor], citing(1, 4, concepts=("speed",), files=("c.py",), facts=("new",))
    )

    assert (record.concepts, record.facts) == (("speed", "cache", "disk"), ("new",))
    assert (record.files_touched, record.files_read, record.files_modified) == (
        ("c.py", "a.py", "b.py"),
        ("b.py",),
        ("a.py",),
    )


def test_what_one_of_them_replaced_the_merged_one_replaces() -> None:
    older = a_candidate(2)
    member = a_candidate(1, facts=("a fact", replacing("the oldest"), replacing(older.record.title)))
    record = merged(Cluster.of([member, older]), [], citing(1, 2, facts=("all of it",)))
    assert record.facts == (replacing("the oldest"), "all of it")


def test_what_a_judge_words_replaces_nothing() -> None:
    wording = citing(1, 4, facts=(replacing("Never push to main"), "all of it"))
    assert merged(Cluster.of([a_candidate(1)]), [a_neighbor(4)], wording).facts == ("all of it",)


def test_lists_keep_their_bounds() -> None:
    many = tuple(f"c{number}" for number in range(50))
    record = merged(Cluster.of([a_candidate(1, concepts=many)]), [a_neighbor(4)], citing(1, 4, concepts=("one more",)))

    assert (len(record.concepts), record.concepts[0]) == (50, "one more")


def test_the_type_is_the_wording_s_or_that_of_the_most_similar() -> None:
    cluster = Cluster.of([a_candidate(1, observation_type=ObservationType.PATTERN)])
    neighbors = [a_neighbor(4, 0.9, observation_type=ObservationType.ERROR)]

    assert merged(cluster, neighbors, citing(1, 4)).observation_type is ObservationType.PATTERN
    said = citing(1, 4, observation_type=ObservationType.DECISION)
    assert merged(cluster, neighbors, said).observation_type is ObservationType.DECISION


def test_the_most_similar_may_be_a_neighbor() -> None:
    far = a_candidate(1, 0, observation_type=ObservationType.PATTERN)
    cluster = Cluster.of([far, a_candidate(2, 60)])

    record = merged(cluster, [a_neighbor(4, 0.99, observation_type=ObservationType.ERROR)], citing(1, 4))

    assert record.observation_type is ObservationType.ERROR


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        ((Origin.USER, Origin.TOOL), Origin.TOOL),
        ((Origin.USER, Origin.ASSISTANT), Origin.ASSISTANT),
        ((Origin.USER, None), None),
        ((None, Origin.TOOL), Origin.TOOL),
        ((Origin.USER, Origin.USER), Origin.USER),
    ],
)
def test_no_source_is_trusted_more_for_being_merged(
    origins: tuple[Origin | None, Origin | None], expected: Origin | None
) -> None:
    record = merged(Cluster.of([a_candidate(1, origin=origins[0])]), [a_neighbor(4, origin=origins[1])], citing(1, 4))

    assert record.origin is expected


def test_the_strictest_knowledge_and_the_highest_importance_stay() -> None:
    member = a_candidate(1, knowledge_type=KnowledgeType.HEURISTIC, importance=3)
    neighbor = a_neighbor(4, knowledge_type=KnowledgeType.CONSTRAINT, importance=8)

    record = merged(Cluster.of([member, a_candidate(2)]), [neighbor], citing(1, 2, 4))

    assert (record.knowledge_type, record.importance) == (KnowledgeType.CONSTRAINT, 8)


def test_a_merge_is_a_record_of_its_own() -> None:
    record = merged(CLUSTER, NEIGHBORS, citing(1, 4))

    assert (record.record_id, record.strategy, record.created_at) == (NEW_ID, "llm-reconciled", NOW)
    assert record.namespace == CLUSTER.members[0].record.namespace


def _events(*numbers: int) -> tuple[str, ...]:
    return tuple(f"00{number:024d}" for number in numbers)


@pytest.mark.parametrize(
    "beyond_limits",
    [
        {"concepts": ("c" * 150,)},
        {"files_touched": ("", "a.py")},
        {"files_read": ("f" * 900,)},
        {"source_event_ids": ("compact_01ARZ3NDEKTSV4RRFFQ69G5FAV",)},
        {"importance": 11},
    ],
)
def test_stored_records_beyond_our_limits_are_merged_like_any_others(beyond_limits: dict[str, object]) -> None:
    """The first kiro-learn had wider limits, and its records cited its compactions."""
    (old,) = NEIGHBORS[:1]
    stored = Neighbor(unchecked_evolve(old.record, **beyond_limits), old.similarity)
    record = scrub_record(merged(CLUSTER, [stored], citing(1, 4)))
    assert record.record_id == NEW_ID
    assert set(stored.record.source_event_ids) <= set(record.source_event_ids)
    assert len(record.concepts) == len(stored.record.concepts)


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
