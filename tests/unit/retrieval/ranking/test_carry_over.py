from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.carry_over import CARRIED, carry_over

DAWN = datetime(2026, 1, 5, tzinfo=UTC)
LEARNED = DAWN + timedelta(days=1)


def hit(name: str, score: float) -> Hit:
    return Hit(RecordId(name), LEARNED, score)


def at(minute: int, session: str | None = "s") -> Backdrop:
    return Backdrop("", session, DAWN + timedelta(minutes=minute) if session else None)


def scores(hits: list[Hit], **backdrops: Backdrop) -> dict[str, float]:
    known = {RecordId(name): backdrop for name, backdrop in backdrops.items()}
    return {str(each.record_id): each.score for each in carry_over(hits, known)}


def test_a_record_has_a_share_of_what_came_before_it_in_its_session() -> None:
    found = scores([hit("a", 1.0), hit("b", 0.5), hit("c", 0.0)], a=at(0), b=at(1), c=at(2))
    assert found == pytest.approx({"a": 1.0, "b": 0.5 + CARRIED, "c": CARRIED * (0.5 + CARRIED)})


def test_nothing_flows_back_or_into_another_session() -> None:
    found = scores([hit("a", 0.0), hit("b", 1.0), hit("c", 0.0)], a=at(0), b=at(1), c=at(2, "other"))
    assert found == {"a": 0.0, "b": 1.0, "c": 0.0}


def test_records_without_a_session_stay_as_they_are() -> None:
    assert scores([hit("a", 1.0), hit("b", 0.5)], a=at(0, None)) == {"a": 1.0, "b": 0.5}


def test_what_was_said_at_once_is_in_the_order_of_ids() -> None:
    found = scores([hit("b", 0.0), hit("a", 1.0)], a=at(0), b=at(0))
    assert found == pytest.approx({"a": 1.0, "b": CARRIED})
