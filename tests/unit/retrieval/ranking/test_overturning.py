from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, RankingFeatures
from kiro_learn.retrieval.ranking.calibrated import Fusion
from kiro_learn.retrieval.ranking.confidence import MOST_SUCCESSORS, successors

START = datetime(2026, 1, 5, tzinfo=UTC)
OLD = "we use rabbitmq as the message broker between the services\nasked: which message broker do we use?"
ASKED = ("message", "broker")


def found(*newer: str, old: str = OLD) -> dict[str, str]:
    """``newer``: one a day, after ``old``; the numbers of those that overturn it, and its name."""
    texts = {RecordId("old"): old} | {RecordId(f"new{number}"): text for number, text in enumerate(newer)}
    moments = {each: START + timedelta(days=day) for day, each in enumerate(texts)}
    return {str(new): str(of) for new, of in successors([RecordId("old")], texts, moments, ASKED).items()}


@pytest.mark.parametrize(
    "newer",
    [
        "moved all queues over to kafka 3.7; rabbitmq is gone from the compose file",
        "kafka instead of rabbitmq",
        "rabbitmq was replaced by kafka",
        "queues go through kafka\nasked: no rabbitmq please, it loses messages",
        "queues go through kafka\nasked: rabbitmq got too expensive",
        "we decided against rabbitmq",
        "wir nehmen kafka statt rabbitmq",
        "kafka, nicht mehr rabbitmq",
    ],
)
def test_what_says_that_a_name_of_the_older_changed_overturns_it(newer: str) -> None:
    assert found(newer) == {"new0": "old"}


@pytest.mark.parametrize(
    "newer",
    [
        "kafka was removed. rabbitmq runs everywhere",
        "the footer is 24 px high\nasked: fix the footer (after: kafka instead of rabbitmq)",
        "rabbitmq runs with three nodes and a quorum queue",
        "the message broker was replaced",
        "the footer was removed, which nobody has missed so far, also not in the other services"
        + " and so on" * 20
        + " rabbitmq",
        "rabbitmqctl was removed from the path",
    ],
)
def test_what_only_speaks_of_it_or_of_something_else_does_not(newer: str) -> None:
    assert found(newer) == {}


def test_what_came_before_overturns_nothing() -> None:
    old, new = RecordId("old"), RecordId("new")
    texts = {old: "kafka instead of rabbitmq", new: OLD}
    assert successors([new], texts, {old: START, new: START + timedelta(days=1)}, ASKED) == {}


def test_a_word_that_many_hold_is_the_topic_and_no_name() -> None:
    assert found(*(f"rabbitmq queue {number} was removed" for number in range(20))) == {}


def test_the_newest_are_taken_where_several_overturn_it() -> None:
    newer = found("kafka instead of rabbitmq", "nats instead of rabbitmq", "rabbitmq was replaced by sqs")
    assert newer == {f"new{number}": "old" for number in range(3 - MOST_SUCCESSORS, 3)}


def test_what_speaks_of_more_names_is_taken_before_what_is_newer() -> None:
    old = "we use wwise 2023.1 instead of fmod since mara knows it"
    assert found("back to fmod 2.02, the wwise plugin was dropped", "mara dropped the dog quest", old=old) == {
        "new0": "old"
    }


def test_it_is_told_where_there_is_room_and_else_the_order_stays() -> None:
    ids = [RecordId(f"mr_{number:026d}") for number in range(3)]
    texts = dict(zip(ids, (OLD, "the broker is monitored", "kafka instead of rabbitmq"), strict=True))
    moments = {each: START + timedelta(days=day) for day, each in enumerate(ids)}
    features = {each: RankingFeatures(text) for each, text in texts.items()}
    fusion = Fusion(moments, dict(zip(ids, (1.0, 0.2, 0.1), strict=True)), ranking_features=features)
    assert order(fusion.best(3)) == [ids[0], ids[1], ids[2]]
    assert order(fusion.with_successors(ASKED).best(3)) == [ids[0], ids[2], ids[1]]
    assert order(fusion.with_successors(ASKED).refined({}).of(ids)) == [ids[0], ids[2], ids[1]]
    assert attrs.evolve(fusion, ranking_features={}).with_successors(ASKED).best(1)[0].record_id == ids[0]


def order(hits: tuple[Hit, ...]) -> list[RecordId]:
    return [hit.record_id for hit in hits]
