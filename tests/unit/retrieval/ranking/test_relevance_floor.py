from __future__ import annotations

from datetime import UTC, datetime

import attrs
import pytest

from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.relevance_floor import FLOOR, is_relevant, relevance
from kiro_learn.retrieval.ranking.vector_index import VectorRanking

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@attrs.frozen
class Words:
    hits: tuple[Hit, ...] = ()
    ideal_score: float = 0.0
    terms: tuple[str, ...] = ()
    neighbors: tuple[Hit, ...] = ()


def words(best: float, ideal: float) -> Words:
    return Words((Hit(RecordId("a"), NOW, best),), ideal)


def vectors(*cosines: float, count: int = 100) -> VectorRanking:
    """The windows of the nearest are as near as can be, whatever its whole is."""
    return VectorRanking((Hit(RecordId("a"), NOW, 1.0),), count=count, nearest_wholes=cosines)


def test_near_records_are_relevant_without_a_shared_word() -> None:
    assert is_relevant(Words(), vectors(0.6, 0.5))


def test_far_records_are_not_relevant() -> None:
    assert not is_relevant(Words(), vectors(0.3, 0.28))


def test_shared_words_lift_a_record_that_is_nearly_relevant() -> None:
    assert is_relevant(words(9.0, 10.0), vectors(0.3, 0.28))


def test_nothing_found_is_not_relevant() -> None:
    assert not is_relevant(Words(), VectorRanking())


def test_without_vectors_the_words_decide() -> None:
    assert is_relevant(words(4.0, 10.0), VectorRanking())
    assert not is_relevant(words(1.0, 10.0), VectorRanking())


def test_a_literal_match_that_has_no_score_is_relevant_to_no_one() -> None:
    assert not is_relevant(words(0.0, 0.0), VectorRanking())


def test_one_near_record_of_a_large_namespace_may_be_chance() -> None:
    cosines = (0.5, 0.3, 0.2, 0.2, 0.2)
    assert is_relevant(Words(), vectors(*cosines, count=40))
    assert not is_relevant(Words(), vectors(*cosines, count=4_000))


@pytest.mark.parametrize("cosine", [FLOOR, 0.9])
def test_a_namespace_of_one_record_is_judged_by_that_one(cosine: float) -> None:
    assert relevance([cosine], 0.0, 0.0, 1) == pytest.approx(cosine)


def test_a_projects_first_memories_are_told_though_nothing_else_is_near() -> None:
    assert is_relevant(Words(), vectors(0.395, 0.0, count=2))
    assert not is_relevant(Words(), vectors(0.26, 0.2, count=2))
    assert not is_relevant(Words(), vectors(0.395, 0.0, count=20))
