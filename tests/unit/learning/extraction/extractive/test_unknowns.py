"""What the agent does not know is no memory; what the person then tells is one, with the question."""

from __future__ import annotations

import pytest

from kiro_learn.model.record import KnowledgeType, Origin
from tests.unit.learning.histories import answer, event_id, learned, prompt, tool

WEBHOOK = (
    "I don't know, it's not in the repo. `deploy.yml` posts to the webhook in the secret `SLACK_DEPLOY_WEBHOOK`, but "
    "the channel name is set on Slack's side."
)


@pytest.mark.parametrize(
    ("asked", "unknown", "told", "title"),
    [
        (
            "whats the name of that slack channel for deploys",
            WEBHOOK,
            "#ledger-ship",
            "Whats the name of that slack channel for deploys: #ledger-ship",
        ),
        ("whats the db port", "I don't know, the compose file isn't in the repo.", "5433", "Whats the db port: 5433"),
        (
            "who owns the vpc",
            "I can't tell from the repo; `infra/vpc` has no CODEOWNERS entry. Do you know?",
            "netops, ask in #net-help",
            "Who owns the vpc: netops, ask in #net-help",
        ),
        (
            "we dont have a staging bucket do we",
            "I can't see one in `infra/`.",
            "its acme-ledger-stg, made by hand",
            "We dont have a staging bucket do we: its acme-ledger-stg, made by hand",
        ),
        (
            "where do customers report an outage?",
            "Sorry, I'm not sure. The README names no address for it.",
            "status@acme.io, Mara reads it",
            "Where do customers report an outage? status@acme.io, Mara reads it",
        ),
        (
            "how often is the cold backup tested",
            "I couldn't find a schedule for it in `ops/`.",
            "each quarter by Jonas, in the second week",
            "How often is the cold backup tested: each quarter by Jonas, in the second week",
        ),
    ],
)
def test_the_answer_of_a_person_is_kept_with_the_question(asked: str, unknown: str, told: str, title: str) -> None:
    turns = (prompt(1, asked), answer(2, unknown), prompt(3, told))
    (draft,) = learned(*turns, answer(4, "Thanks, good to know! I'll remember that."))
    assert (draft.title, draft.origin, draft.knowledge_type) == (title, Origin.USER, None)
    assert draft.summary.startswith(f"Asked: {asked}\n{told}")
    assert draft.source_event_ids == (event_id(1), event_id(3))
    assert [each.title for each in learned(*turns)] == [title], "it is kept at once"


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        ("whats the name of that slack channel for deploys", WEBHOOK),
        ("which account is prod?", "I couldn't find that in the code, only `var.account_id` in `infra/envs/prod`."),
        (
            "who wrote the importer?",
            "I'm not sure: the history of `importer.py` begins with the move from SVN in 2019.",
        ),
    ],
)
def test_what_the_agent_does_not_know_makes_no_memory(asked: str, unknown: str) -> None:
    assert learned(prompt(1, asked), answer(2, unknown)) == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("do we use redis anywhere?", "I found no use of Redis: the limiter in `internal/limit` counts in Postgres."),
        (
            "why is the pool so small?",
            "I don't know who chose it, but `max_connections` is 20 on the smallest machine.",
        ),
        (
            "where is the retry set?",
            "I couldn't find a flag for it, because `client.go` has it as a constant, 5 times.",
        ),
    ],
)
def test_an_answer_that_found_something_is_kept(asked: str, found: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, found))
    assert draft.origin is Origin.ASSISTANT


@pytest.mark.parametrize(
    "told", ["ask tom", "no idea either", "ok, look into the wiki then", "never mind", "where would it be?", "ok"]
)
def test_a_prompt_that_answers_nothing_makes_no_memory(told: str) -> None:
    turns = (prompt(1, "whats the db port"), answer(2, "I don't know, the compose file isn't in the repo."))
    assert learned(*turns, prompt(3, told), answer(4, "Okay.")) == []


def test_a_short_prompt_after_an_answer_that_knows_is_no_answer() -> None:
    turns = (prompt(1, "whats the db port"), answer(2, "5433, as `compose.yml` says."), prompt(3, "#ledger-ship"))
    assert not any("ledger" in draft.title for draft in learned(*turns, answer(4, "Okay.")))


def test_a_rule_in_the_answer_is_kept_too() -> None:
    turns = (prompt(1, "who reviews the infra?"), answer(2, "I don't know, there is no CODEOWNERS."))
    drafts = learned(*turns, prompt(3, "netops. Never merge infra without their review."), answer(4, "Okay."))
    assert {draft.knowledge_type for draft in drafts} == {KnowledgeType.CONSTRAINT, None}


def test_work_that_is_not_sure_of_something_is_still_learned() -> None:
    edited = tool(2, "Edit", {"file_path": "src/pool.ts"}, {"success": True})
    made = "I'm not sure which limit you want. I set `max` in `src/pool.ts` to 20, so that no socket is left over."
    assert len(learned(prompt(1, "limit the pool"), edited, answer(3, made))) == 1


@pytest.mark.parametrize(
    "told",
    [
        "rename the function in billing.py to charge",
        "commit and push please",
        "the build is red again on ci, something fails",
        "we go with SQS instead of RabbitMQ because it needs no care",
        "never deploy on fridays",
    ],
)
def test_an_order_a_report_a_choice_and_a_rule_answer_nothing(told: str) -> None:
    asked = (prompt(1, "which channel do alerts go to?"), answer(2, "I couldn't find it in the repo."))
    drafts = learned(*asked, prompt(3, told), answer(4, "Done."))
    assert not any("channel" in draft.title for draft in drafts)
