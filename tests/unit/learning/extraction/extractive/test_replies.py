"""An option picked by its number is learned in its own words, and a change that is taken back is no decision."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.extract import Extract
from kiro_learn.learning.extraction.extractive.learner import extracts_of
from kiro_learn.learning.extraction.extractive.turns import FramedEvent, ReadBatch, Said, ToolUse
from kiro_learn.learning.extraction.framing import Sources
from kiro_learn.model.record import KnowledgeType, Origin

QUESTION = "where should the retry state live"
OPTIONS = "I see two options:\n\n1. **Redis** is fast, but loses it\n2. A table `retries` in Postgres\n\nI recommend 2."
RETRIES = "Where should the retry state live \u2192 A table `retries` in Postgres"


EDIT = '{"file_path": "/home/dev/shop/redis.tf", "old_string": "a", "new_string": "b"}'


def learned(*texts: str, edited: bool = True) -> list[Extract]:
    """The memories of one session in which a prompt and an answer alternate, with an edit in between."""
    events: list[FramedEvent] = []
    for number, text in enumerate(texts, 1):
        is_answer = number % 2 == 0
        if is_answer and edited:
            events.append(FramedEvent("s", tool=ToolUse(10 + number, "Edit", EDIT, "")))
        events.append(FramedEvent("s", (Said(number, "assistant" if is_answer else "user", text),)))
    return extracts_of(ReadBatch("/home/dev/shop", tuple(events), Sources(())))


def decided(*texts: str) -> list[str]:
    found = (each for each in learned(*texts) if each.knowledge_type is KnowledgeType.DECISION)
    return [each.summary for each in found if each.origin is Origin.USER]


@pytest.mark.parametrize(
    "reply",
    [
        "2",
        "option 2",
        "ok let's go with option 2 please",
        "the second one",
        "2.",
        "I'd go with 2",
        "do #2",
        "Approach 2!",
    ],
)
def test_an_option_that_is_picked_by_its_number_is_decided_in_its_words(reply: str) -> None:
    (statement,) = decided(QUESTION, OPTIONS, reply, "Done.")
    assert statement.startswith(f"{RETRIES}; not: Redis is fast")


@pytest.mark.parametrize(
    ("answer", "reply", "expected"),
    [
        (
            "Two ways: 1. Through the gateway, $0.045 per GB 2. An endpoint, free. I recommend 2.",
            "2",
            "An endpoint, free",
        ),
        ("a) keep it for 7 days\nb) keep it for 30 days\nc) forever", "b", "keep it for 30 days"),
        (
            "### Option A: SQS\nManaged, 12 $ a month.\n\n### Option B: NATS\nOur own cluster.",
            "lets go with A",
            "SQS Managed",
        ),
        ("**1. Pin the version** (quick)\n\n**2. Vendor the package**", "option 1", "Pin the version (quick)"),
    ],
)
def test_options_in_other_forms(answer: str, reply: str, expected: str) -> None:
    (statement,) = decided(QUESTION, answer, reply, "Done.")
    assert f"\u2192 {expected}" in statement


def test_a_long_prompt_before_the_options_gives_its_last_short_question_or_none() -> None:
    long = (
        "the checks still do not work and the logs below say what they say, for each of the three jobs that ran today"
    )
    (statement,) = decided(f"{long}. which cache do we take?", OPTIONS, "2", "Done.")
    assert statement.startswith("Which cache do we take \u2192 A table")
    (statement,) = decided(long, f"{OPTIONS} Would you like me to go on?", "2", "Done.")
    assert statement.startswith("A table `retries` in Postgres; not: Redis")


def test_the_reason_for_a_pick_is_kept_and_several_may_be_picked() -> None:
    (statement,) = decided(QUESTION, OPTIONS, "2, we have the database already. how long will it take?", "Done.")
    assert f"{RETRIES} (we have the database already); not: Redis" in statement
    more = OPTIONS.replace("\n\nI recommend", "\n3. A file on disk\n\nI recommend")
    (both,) = decided(QUESTION, more, "1 and 2", "Done.")
    assert "Redis is fast, but loses it; A table `retries` in Postgres; not: A file on disk" in both
    assert decided(QUESTION, OPTIONS, "1 and 2", "Done.") == [], "who takes all of them chooses nothing"


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (OPTIONS, "2 tests fail now"),
        (OPTIONS, "3"),
        (OPTIONS, "for option 2: how would we migrate"),
        (OPTIONS, "a test for it please"),
        ("Next steps:\n1. deploy it\n2. write the docs", "1"),
        ("I found two issues:\n1. the pool leaks\n2. the lock is global", "2"),
        ("The state lives in Redis.", "2"),
        (OPTIONS, "1. won't work, we have no redis"),
        (OPTIONS, "1, not sure about it yet, lets talk tomorrow"),
        (OPTIONS, "2, what would it cost"),
        (OPTIONS, "first, explain the trade-offs"),
        (OPTIONS, "1. fix the readme 2. push it"),
        (OPTIONS, "2 but check it first"),
        ("I recommend these steps: 1. Restart the worker 2. Clear the cache", "1. done, same error"),
        ("It is either of these: 1. The tests fail on the clock 2. They fail on the lock", "1 and 2 please"),
    ],
)
def test_no_option_is_picked(answer: str, reply: str) -> None:
    assert not [statement for statement in decided(QUESTION, answer, reply, "Done.") if "\u2192" in statement]


ORDER, DONE, BACK = "switch the cache to cluster mode", "Done. `cluster_mode` is on in `redis.tf`.", "Reverted."


@pytest.mark.parametrize(
    "reply",
    [
        "nope, asynq cant do cluster mode. back to what it was",
        "hmm wait asynq cant do cluster mode, put it back",
        "undo, asynq cant do cluster mode",
        "take it out again, asynq cant do cluster mode",
        "asynq cant do cluster mode, revert that please",
    ],
)
def test_a_change_that_is_taken_back_is_a_rejected_attempt_with_the_reason(reply: str) -> None:
    found = learned(ORDER, DONE, reply, BACK)
    assert found[0].title == "Switch the cache to cluster mode: undone, asynq cant do cluster mode"
    assert found[0].knowledge_type is KnowledgeType.REJECTED
    assert not any("is on in" in each.summary for each in found)


def test_a_change_that_is_taken_back_without_a_reason_is_nothing() -> None:
    assert learned("let's use otel for the metrics instead of prometheus", DONE, "undo", BACK) == []


@pytest.mark.parametrize(
    "reply",
    [
        "can you undo it later?",
        "ok lets get back to main",
        "revert commit 3f2a9bc on staging, it breaks the login there",
        "now add a button that takes the item out of the cart",
        "next add a button that lets users undo, and one to restore",
        "the deploy broke prod for another reason, ops will restore it, go on",
        "dont restore it yourself",
        "put it back into the branch feature/dark and push",
        "undo, redo and clear should be in the menu",
    ],
)
def test_other_prompts_take_nothing_back(reply: str) -> None:
    found = learned("let's use otel for the metrics instead of prometheus", DONE, reply, "Done.")
    assert found[0].knowledge_type is KnowledgeType.DECISION


def test_nothing_is_taken_back_where_no_file_was_changed() -> None:
    asked = ("how do we roll back a deploy?", "Run `kamal rollback` with the version before, and check `/up`.")
    found = learned(*asked, "perfect. rollback, then tell me the version", "It is 41 now.", edited=False)
    assert not any(each.knowledge_type is KnowledgeType.REJECTED for each in found)
