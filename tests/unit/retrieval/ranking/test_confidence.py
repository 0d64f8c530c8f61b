from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import attrs
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, LexicalRanking, RankingFeatures
from kiro_learn.retrieval.ranking.calibrated import Fusion
from kiro_learn.retrieval.ranking.confidence import (
    CARRIED,
    CERTAIN,
    FLOOR,
    LEAST_BYTES,
    MOST_SUCCESSORS,
    Sureness,
    confidence,
    overturned_among,
    session_boost,
    successors,
    word_share,
)


def words(best: float, ideal: float) -> LexicalRanking:
    return LexicalRanking((Hit(RecordId("mr_1"), datetime(2026, 1, 1, tzinfo=UTC), best),), ideal)


def test_it_is_the_mean_of_the_ten_nearest_passages_in_whatever_order() -> None:
    assert confidence([0.1, 0.6, *[0.0] * 200, *[0.2] * 5, 0.4, 0.5, 0.7, 0.8]) == pytest.approx(0.4)


def test_a_single_memory_stands_for_itself() -> None:
    assert confidence([0.6]) == pytest.approx(0.6)


def test_one_more_passage_never_moves_it_by_much() -> None:
    """If the rule changed at the 20th memory, that one could silence a question that 19 memories had answered."""
    known = [0.5, 0.3, 0.2]
    grown = [confidence([*known, *[0.1] * count]) for count in range(80)]
    assert max(abs(one - next_one) for one, next_one in pairwise(grown)) < 0.01


def test_a_share_of_words_is_between_nothing_and_all() -> None:
    assert word_share(words(9.0, 4.0)) == 1.0
    assert word_share(words(2.0, 0.0)) == 0.0
    assert word_share(LexicalRanking((), 0.0)) == 0.0


def test_below_the_floor_nothing_is_worth_telling() -> None:
    assert Sureness(FLOOR - 1e-9).bytes_worth(8_000) == 0
    assert Sureness(-1.0).bytes_worth(8_000) == 0


def test_from_the_floor_on_the_bytes_grow_with_the_confidence() -> None:
    middle = (FLOOR + CERTAIN) / 2
    assert Sureness(FLOOR).bytes_worth(8_000) == LEAST_BYTES
    assert LEAST_BYTES < Sureness(middle).bytes_worth(8_000) < 8_000
    assert Sureness(CERTAIN).bytes_worth(8_000) == Sureness(1.0).bytes_worth(8_000) == 8_000


def test_a_small_block_is_never_made_larger() -> None:
    assert Sureness(FLOOR).bytes_worth(500) == Sureness(1.0).bytes_worth(500) == 500


def test_a_task_is_told_all_or_nothing() -> None:
    assert Sureness(CERTAIN - 1e-9).of_task.bytes_worth(1_000) == 0
    assert Sureness(CERTAIN).of_task.bytes_worth(1_000) == 1_000


DAWN = datetime(2026, 1, 5, tzinfo=UTC)
LEARNED = DAWN + timedelta(days=1)


def at(minute: int, session: str | None = "s") -> RankingFeatures:
    return RankingFeatures("", session, DAWN + timedelta(minutes=minute) if session else None)


def carried(scores: dict[str, float], **ranking_features: RankingFeatures) -> dict[str, float]:
    """The scores after the boost by session, if all records were learned at once."""
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


START = datetime(2026, 1, 5, tzinfo=UTC)
OLD = "we use rabbitmq as the message broker between the services\nasked: which message broker do we use?"
ASKED = ("message", "broker")


def found(*newer: str, old: str = OLD) -> dict[str, str]:
    """The texts of ``newer`` that overturn ``old``, as {"new0": "old"}; they were said one a day, after ``old``."""
    texts = {RecordId("old"): old} | {RecordId(f"new{number}"): text for number, text in enumerate(newer)}
    moments = {each: START + timedelta(days=day) for day, each in enumerate(texts)}
    overturned = successors([RecordId("old")], texts, moments, ASKED)
    return {str(new): " and ".join(olds) for new, olds in overturned.items()}


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


@pytest.mark.parametrize(
    ("new", "ended"),
    [
        ('kafka instead of rabbitmq\nreplaces "cache in memcached"', ("a", "b")),
        ('one store for all\nreplaces "queues in rabbitmq"\nreplaces "cache in memcached"', ("a", "b")),
        ("kafka instead of rabbitmq, valkey instead of memcached", ("a",)),
    ],
)
def test_of_several_that_end_with_it_the_first_is_taken_and_each_that_it_states(new: str, ended: tuple[str]) -> None:
    texts = {RecordId("a"): "queues in rabbitmq", RecordId("b"): "cache in memcached", RecordId("new"): new}
    moments = {each: START + timedelta(days=day) for day, each in enumerate(texts)}
    olds = [RecordId("a"), RecordId("b")]
    assert successors(olds, texts, moments, ASKED) == overturned_among(olds, texts, moments) == {RecordId("new"): ended}


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_what_it_states_takes_no_place_of_what_its_words_end(order: tuple[RecordId, RecordId]) -> None:
    a, b, new = RecordId("a"), RecordId("b"), RecordId("new")
    texts = {
        a: "queues in rabbitmq",
        b: "cache in memcached",
        new: 'kafka instead of rabbitmq\nreplaces "cache in memcached"',
    }
    moments = {each: START + timedelta(days=day) for day, each in enumerate(texts)}
    assert overturned_among(order, texts, moments) == {new: order}


def test_what_was_found_before_is_joined_with_what_is_found_now_and_stays_the_first() -> None:
    a, b, c, new = RecordId("a"), RecordId("b"), RecordId("c"), RecordId("new")
    texts = {b: "cache in memcached", c: "jobs in celery", new: 'no celery any more\nreplaces "cache in memcached"'}
    moments = {each: START + timedelta(days=day) for day, each in enumerate([a, *texts])}
    among = partial(overturned_among, [b, c], moments=moments)
    assert among(texts) == {new: (b, c)}
    assert among(texts | {a: "queues in rabbitmq"}, known={new: (a,)}) == {new: (a, b)}
    assert among(texts, known={new: (a,)}) == {new: (b, c)}, "what was found is not among them"
    assert among(texts, known={new: (b,)}) == {new: (b, c)}


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
