from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import RankingFeatures
from kiro_learn.retrieval.ranking.confidence import CARRIED, session_boost

DAWN = datetime(2026, 1, 5, tzinfo=UTC)
LEARNED = DAWN + timedelta(days=1)


def at(minute: int, session: str | None = "s") -> RankingFeatures:
    return RankingFeatures("", session, DAWN + timedelta(minutes=minute) if session else None)


def carried(scores: dict[str, float], **ranking_features: RankingFeatures) -> dict[str, float]:
    """With all records learned at once."""
    known = {RecordId(name): features for name, features in ranking_features.items()}
    found = {RecordId(name): score for name, score in scores.items()}
    return {str(name): score for name, score in session_boost(found, dict.fromkeys(found, LEARNED), known).items()}


def test_a_record_has_a_share_of_what_came_before_it_in_its_session() -> None:
    found = carried({"a": 1.0, "b": 0.5, "c": 0.0}, a=at(0), b=at(1), c=at(2))
    assert found == pytest.approx({"a": 1.0, "b": 0.5 + CARRIED, "c": CARRIED * (0.5 + CARRIED)})


def test_nothing_flows_back_or_into_another_session() -> None:
    found = carried({"a": 0.0, "b": 1.0, "c": 0.0}, a=at(0), b=at(1), c=at(2, "other"))
    assert found == {"a": 0.0, "b": 1.0, "c": 0.0}


def test_records_without_a_session_stay_as_they_are() -> None:
    assert carried({"a": 1.0, "b": 0.5}, a=at(0, None)) == {"a": 1.0, "b": 0.5}


def test_what_was_said_at_once_is_in_the_order_of_ids() -> None:
    found = carried({"b": 0.0, "a": 1.0}, a=at(0), b=at(0))
    assert found == pytest.approx({"a": 1.0, "b": CARRIED})
