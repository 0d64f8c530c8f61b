"""Sentences that say that something is gone, and sentences with the same words that say no such thing."""

from __future__ import annotations

import pytest

from kiro_learn.learning.graph.statement import PROJECT
from kiro_learn.learning.graph.statements import statements_in


@pytest.mark.parametrize(
    "sentence",
    [
        "Redis is gone",
        "Redis has been retired.",
        "redis was finally ripped out",
        "We finally killed Redis last sprint",
        "I ripped out Redis",
        "we've dropped Redis in March",
        "We migrated away from Redis.",
        "We don't need Redis anymore",
        "we no longer need Redis",
        "no more Redis in this repo",
        "Just got rid of Redis!",
    ],
)
def test_what_is_gone_is_used_no_longer(sentence: str) -> None:
    (found,) = statements_in(sentence)
    assert (found.subject, found.predicate, found.object, found.is_denied) == (PROJECT, "uses", "Redis", True)


@pytest.mark.parametrize(
    "sentence",
    [
        "jest is gone btw, it's all vitest now",
        "We got rid of Jest, it's Vitest now.",
        "we dropped Jest in March, now we're on Vitest",
        "I ditched Jest, we only use Vitest now",
    ],
)
def test_what_there_is_instead_takes_its_place(sentence: str) -> None:
    (found,) = statements_in(sentence)
    assert (found.object, found.replaces, found.is_denied) == ("Vitest", "Jest", False)


def test_two_may_be_gone() -> None:
    assert [each.object for each in statements_in("We dropped Redis and Kafka.")] == ["Redis", "Kafka"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Redis was removed from the compose file, put it back",
        "Docker is gone from my laptop",
        "the Jest tests are gone",
        "We removed Redis from the test setup.",
        "we dropped Postgres in the integration tests for now",
        "I ditched Kafka in my branch",
        "Removed Redis from requirements",
        "Postgres was killed by the OOM killer",
        "the Redis container got removed",
        "we killed the Redis process and restarted it",
        "no more Redis connections are accepted",
        "I don't need Docker for this",
        "we dropped GitHub Actions",
        "we ditched Kafka Streams",
        "I dropped the Redis cache, run the tests again",
        "Is Redis gone?",
        "If Redis is gone, nothing works",
        "Redis will be gone next week",
        "it says Redis is gone",
        "We moved off topic, back to Redis",
        "the type was changed from string to int",
        "Redis is down",
    ],
)
def test_what_only_sounds_like_it_ends_nothing(sentence: str) -> None:
    assert statements_in(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "predicate", "object_"),
    [
        ("Just relocated to Lisbon, so my timezone changed", "lives_in", "Lisbon"),
        ("started a new job at Spotify this week", "works_at", "Spotify"),
        ("Just switched from npm to pnpm", "uses", "pnpm"),
        ("we renamed master to main today", "default_branch", "main"),
        ("sorry, typo: default branch is main", "default_branch", "main"),
        ("we relicensed to Apache-2.0", "licensed_under", "Apache-2.0"),
        ("dev server runs on port 3000", "listens_on_port", "3000"),
        ("I was wrong about the port, it's 5001", "listens_on_port", "5001"),
        ("the backend has been rewritten in Go", "written_in", "Go"),
        ("We host everything on AWS.", "runs_on", "AWS"),
    ],
)
def test_short_sentences_of_people_who_work_are_read(sentence: str, predicate: str, object_: str) -> None:
    (found,) = statements_in(sentence)
    assert (found.predicate, found.object, found.is_denied) == (predicate, object_, False)


@pytest.mark.parametrize(
    "sentence",
    [
        "started a new job at 10:00",
        "I got a new job in the queue",
        "Just relocated to the new folder",
        "we renamed master.py to main.py",
        "nothing runs on port 80",
        "another server runs on port 80",
        "my server runs on port 3000",
        "web server running on port 8080 is not responding",
    ],
)
def test_what_only_sounds_like_one_of_these_states_nothing(sentence: str) -> None:
    assert statements_in(sentence) == []
