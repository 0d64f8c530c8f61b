"""A value that a person corrects is kept with the name of the thing, which only the turn before says."""

from __future__ import annotations

import pytest

from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.event import Event
from kiro_learn.model.record import KnowledgeType
from tests.unit.learning.histories import answer, event_id, learned, prompt, tool


def edited(number: int) -> Event:
    return tool(number, "Edit", {"file_path": "internal/stripe.go"}, {"success": True})


def corrected(before: str, made: str, asked: str, answered: str) -> list[RecordDraft]:
    """What is learned of the second of two turns that both change a file."""
    events = (prompt(1, before), edited(2), answer(3, made), prompt(4, asked), edited(5), answer(6, answered))
    return [draft for draft in learned(*events) if event_id(6) in draft.source_event_ids]


TIMEOUT = ("add a timeout to the stripe client", "I've set a timeout of 10 seconds in `internal/stripe.go`.")


@pytest.mark.parametrize(
    ("turn", "asked", "answered", "value"),
    [
        (TIMEOUT, "30s, payouts list is slow", "Changed to 30 seconds.", "30 seconds"),
        (TIMEOUT, "no 45", "Sorry about that! It's now 45 s.", "45 s"),
        (
            ("cap the worker pool", "I've capped the pool at 8 workers in `worker.toml`."),
            "make it 12, the box has 16 cores",
            "Done. Raised it from 8 to 12.",
            "12",
        ),
        (
            ("put the log level into the config", "`LOG_LEVEL` is read in `config.go` and is `info` by default."),
            "debug by default pls",
            "Switched to `debug`.",
            "debug",
        ),
        (
            ("create the bucket for the exports", "I've added the bucket in `infra/s3.tf`, in the region eu-west-1."),
            "no, eu-central-1",
            "Moved to eu-central-1; the plan shows one bucket to add and one to destroy.",
            "eu-central-1",
        ),
        (
            ("add idempotency keys", "I've implemented them in `idempotency.go`. A key with another body gets a 422."),
            "409 not 422, the mobile client treats 422 as a validation error and shows it",
            "Changed to **409 Conflict**; the test is updated accordingly.",
            "409 Conflict",
        ),
    ],
)
def test_the_new_value_is_kept_under_the_request_that_names_the_thing(
    turn: tuple[str, str], asked: str, answered: str, value: str
) -> None:
    (draft,) = corrected(*turn, asked, answered)
    assert draft.title.lower().startswith(turn[0])
    assert value in draft.title
    assert f"(after: {turn[0]})" in draft.summary


def test_a_second_correction_is_kept_under_the_same_request() -> None:
    first = (prompt(1, TIMEOUT[0]), edited(2), answer(3, TIMEOUT[1]))
    second = (prompt(4, "30s, payouts list is slow"), edited(5), answer(6, "Changed to 30 seconds."))
    drafts = learned(*first, *second, prompt(7, "hm 20s"), edited(8), answer(9, "Lowered it to 20 seconds."))
    assert drafts[-1].title == "Add a timeout to the stripe client: Lowered it to 20 seconds."


@pytest.mark.parametrize("agreed", ["yep pg. keep 72h", "ok do that", "1"])
def test_a_turn_that_only_agrees_gives_way_to_the_request_before_it(agreed: str) -> None:
    offer = "Postgres keeps them in the same transaction, and needs a cleanup. Shall I go ahead?"
    asked = (prompt(1, "add idempotency keys to POST /postings"), answer(2, offer))
    agreeing = (prompt(3, agreed), edited(4), answer(5, "The keys are in `keys.go`; another body gets a 422."))
    drafts = learned(*asked, *agreeing, prompt(6, "409 not 422"), edited(7), answer(8, "Changed to 409."))
    assert drafts[-1].title == "Add idempotency keys to POST /postings: Changed to 409."


def test_a_rule_that_gives_the_value_stays_the_title() -> None:
    (draft,) = corrected(
        "set the log retention", "It is 30 days now.", "never keep logs for less than 400 days", "Changed to 400 days."
    )
    assert (draft.title, draft.knowledge_type) == ("Never keep logs for less than 400 days", KnowledgeType.CONSTRAINT)
    assert (
        draft.summary
        == "Asked: never keep logs for less than 400 days (after: set the log retention)\nChanged to 400 days."
    )


def test_an_answer_that_names_the_thing_itself_needs_no_other_name() -> None:
    (draft,) = corrected(*TIMEOUT, "bump alpine to 3.20 while you are at it", "I've bumped alpine to 3.20.")
    assert "stripe" not in draft.title
    assert "alpine to 3.20" in draft.title


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("put the real key into .env.example and .env.test", "Updated both `.env.example` files with the real key."),
        ("the 3 callers in `api/` have to follow", "Changed 3 files in `api/`, and `client.go` passes the deadline."),
    ],
)
def test_a_change_of_files_is_no_corrected_value(asked: str, answered: str) -> None:
    assert not any("stripe" in draft.title for draft in corrected(*TIMEOUT, asked, answered))


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("wait 30s and try again", "Waited 30 seconds, and it works."),
        ("1", "Done, changed it."),
        ("run it with 4 workers", "It ran with 4 workers."),
        ("shorter", "Changed it to one line."),
        ("thanks, 10 is fine", "Great!"),
    ],
)
def test_what_sets_no_value_makes_no_memory(asked: str, answered: str) -> None:
    assert corrected(*TIMEOUT, asked, answered) == []


def test_without_a_turn_before_a_bare_value_makes_no_memory() -> None:
    assert learned(prompt(1, "30s"), answer(2, "Changed to 30 seconds.")) == []
