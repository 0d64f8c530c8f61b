"""A statement that a prompt quotes, or takes back at once, is not its writer's statement."""

from __future__ import annotations

import pytest

from kiro_learn.learning.graph.stated_facts import said_in_earnest


@pytest.mark.parametrize(
    "retraction",
    [
        "Just kidding!",
        "I was only joking.",
        "No we don't.",
        "Sorry, I meant Valkey.",
        "Wait, no, scratch that.",
        "That's wrong, fix the docs.",
        "That\u2019s not true.",
        "It is outdated.",
        "I take that back",
        "Never mind.",
        "Not really.",
        "Nope.",
        "Wait, no, Valkey.",
        "Actually no.",
        "No, we use Valkey, not Redis.",
        "Nope. The port is 9090, not 8080.",
        "I take that back, not sure.",
    ],
)
@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_a_sentence_that_the_next_one_takes_back_is_not_said(retraction: str, between: str) -> None:
    found = said_in_earnest(f"The port is 80. We use Redis.{between}{retraction} Run the tests.")
    assert "We use Redis" not in found
    assert found.startswith("The port is 80.")
    assert found.endswith("Run the tests.")


@pytest.mark.parametrize("text", ["We use Redis, just kidding.", "We use Redis (not true).", "We use Redis - jk"])
def test_a_sentence_that_takes_itself_back_is_not_said(text: str) -> None:
    assert "Redis" not in said_in_earnest(text)


@pytest.mark.parametrize(
    "text",
    [
        "We use Redis. We don't use Postgres.",
        "We use Redis. Never mind the tests.",
        "We use Redis. Wrong ports are refused.",
        "We use Redis. This is not a problem.",
        "No, that's wrong. We use Redis.",
        "I meant Valkey. We use Redis.",
        "We use Redis to find what was wrong.",
        "Just kidding! We use Redis.",
        "We use Redis. No, the port is 9090, not 8080.",
        "We use Redis. Sorry, I meant port 9090, not 8080.",
    ],
)
def test_what_is_meant_stays(text: str) -> None:
    assert "We use Redis" in said_in_earnest(text)


def test_several_are_taken_back() -> None:
    text = "We use Redis. Just kidding. We use Kafka. No we don't. We use Postgres."
    found = said_in_earnest(text)
    assert "Redis" not in found
    assert "Kafka" not in found
    assert found.endswith("We use Postgres.")


def test_a_quoted_line_is_not_said() -> None:
    found = said_in_earnest("On Monday Bob wrote:\n> We use Redis\n>> I live in Oslo\nWe use Kafka.")
    assert found.split() == ["On", "Monday", "Bob", "wrote:", "We", "use", "Kafka."]


def test_an_arrow_quotes_nothing() -> None:
    assert said_in_earnest("a -> b\nx > y") == "a -> b\nx > y"
