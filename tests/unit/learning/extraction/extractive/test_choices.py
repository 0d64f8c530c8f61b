from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durable import chosen_in


@pytest.mark.parametrize(
    "prompt",
    [
        "Let's replace Kafka with NATS: its brokers cost 900 EUR a month",
        "Let's raise argon2's memory to 64 MiB, because the pentest asked for it",
        "Store the sessions in Postgres, not in Redis, because Redis is not backed up",
        "Pin numpy below 2, pandas breaks with it",
        "We'll go with GraphQL because mobile needs fewer round trips",
        "We picked Postgres over MySQL because we need JSONB",
        "We migrated from Black to ruff format because it's faster",
        "Drop support for Python 3.9, because numpy does not ship wheels for it anymore",
        "Drop the retry logic, it hides real errors",
        "No cookies, use a bearer token, because the mobile app has no cookie jar",
        "The API should return 404 instead of 403, so that ids cannot be guessed",
        "Set the timeout to 30 seconds, because the bank's API takes 20",
        "For auth we take Keycloak since the customer has it already",
        "Auth: Keycloak, because the customer has it already",
        "I decided against Kubernetes, two VMs are enough",
        "Kubernetes is overkill for us, two VMs are enough",
        "Instead of webhooks we poll, because their webhooks get lost",
    ],
)
def test_a_choice_with_its_reason_is_recognised_by_its_form(prompt: str) -> None:
    assert chosen_in(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "We're on vitest now, jest is gone",
        "make deploy is gone, deploy with ./ship now",
        "We moved to Bun last week.",
        "We replaced Celery with Dramatiq",
        "CI runs on GitLab now, not Jenkins",
        "yarn is out, pnpm is in",
    ],
)
def test_what_is_used_now_needs_no_reason(prompt: str) -> None:
    assert chosen_in(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "Fix the login because users can't log in",
        "Add a test because coverage is low",
        "Let's look at it because it fails",
        "let's try again, it is back",
        "my changes are gone, where are they",
        "The page is gone, it shows 404",
        "node_modules is gone, run install again",
        "we're on the same page now",
        "We moved to the next step",
        "make it bigger, it is too small",
        "we switched to vue but it breaks",
        "We decided to wait because Bob is ill",
        "Raise the limit for now because the import fails",
        "Use the second one, it looks nicer",
        "My boss said we should use Kafka instead of NATS, because it scales",
    ],
)
def test_work_complaints_and_what_holds_for_now_are_no_choices(prompt: str) -> None:
    assert chosen_in(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "ahh very good, I understand, so we keep this",
        "ok good, so we take that one",
        "yes I think this is better, we go with it please",
        "thank you, then we stay with this",
        "the dashboard is too old for the support, can we put it to 2 hours",
        "the batch of the scoring is too big, can we make it smaller",
    ],
)
def test_a_choice_that_names_nothing_and_a_complaint_are_none(prompt: str) -> None:
    assert chosen_in(prompt) == ""
