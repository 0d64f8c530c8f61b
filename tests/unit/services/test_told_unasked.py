"""For a decision that was amended weeks later, the amendment is told first, and says what it replaced."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.retrieval.ranking.succession import replacing
from kiro_learn.services.services import Services
from kiro_learn.services.told_unasked import Amended
from kiro_learn.testing.daemon import NAMESPACE, a_record
from tests.unit.services.in_daemon import in_daemon

WEEKS = timedelta(weeks=5)

TASKS = [
    (
        "which message broker do we use for the orders?",
        "RabbitMQ is the message broker of the orders",
        "All queues moved to Kafka, RabbitMQ is gone",
    ),
    (
        "where do we keep the login sessions?",
        "Login sessions are kept in Redis",
        "Login data went to Postgres instead of Redis",
    ),
    (
        "how does the uploader retry a failed part?",
        "The uploader retries a failed part with Tenacity",
        "Dropped Tenacity for a loop of our own, five times",
    ),
    (
        "what do the ids of invoices look like?",
        "Ids of invoices are Snowflake numbers",
        "ULIDs replaced Snowflake, since clocks of the workers drift",
    ),
    (
        "what are the docs built with?",
        "The docs are built with Sphinx",
        "Switched to MkDocs and away from Sphinx",
    ),
    (
        "which service compares the screenshots?",
        "Percy compares the screenshots of the shop",
        "Percy was too expensive: Playwright does it now",
    ),
]
NOISE = [
    "The footer is 24 pixels high on phones",
    "Releases are tagged on the first Monday of a month",
    "The importer reads files of at most ten megabytes",
    "Translations come from the agency in Graz",
]


def decided(number: int, title: str, *, weeks: float = 0, summary: str = "") -> MemoryRecord:
    record = a_record(number, title, summary or f"{title}, as was agreed with the others.", namespace=NAMESPACE)
    return attrs.evolve(
        record,
        created_at=record.created_at + weeks * WEEKS / 5,
        knowledge_type=KnowledgeType.DECISION,
        origin=Origin.USER,
    )


async def remember(services: Services, *records: MemoryRecord) -> None:
    for record in records:
        await services.remember.put(record)
    await trio.sleep(1)


@pytest.mark.parametrize(("question", "before", "after"), TASKS)
def test_a_task_is_told_the_amendment_first(question: str, before: str, after: str) -> None:
    async def scenario(services: Services) -> None:
        noise = [decided(number, text, weeks=number) for number, text in enumerate(NOISE, 10)]
        old, new = decided(1, before), decided(2, after, weeks=5)
        await remember(services, old, *noise, new)
        told = (await services.recall.answer(NAMESPACE, TextBody(question), session_id="s")).context
        assert f'was "{before}" until {new.created_at:%Y-%m-%d}' in told
        heads = [line for line in told.splitlines() if before in line or after in line]
        assert after in heads[0]

    in_daemon(scenario, config=Config(recall=RecallConfig(prompts="all", budget_seconds=10.0)))


@pytest.mark.parametrize(("question", "before", "after"), TASKS)
def test_the_brief_tells_the_amendment_alone(question: str, before: str, after: str) -> None:
    del question

    async def scenario(services: Services) -> None:
        noise = [decided(number, text, weeks=number) for number, text in enumerate(NOISE, 10)]
        await remember(services, decided(1, before), *noise, decided(2, after, weeks=5))
        brief = (await services.session_context.context(NAMESPACE, folder=None)).text
        (line,) = [each for each in brief.splitlines() if before in each]
        assert line.startswith(f"- {after}")
        assert f'was "{before}" until' in line
        assert all(text in brief for text in NOISE)

    in_daemon(scenario)


def test_what_a_memory_states_to_replace_is_told_beside_its_day_alone() -> None:
    before = "Invoices are numbered by year"
    question = "how are invoices numbered?"

    async def scenario(services: Services) -> None:
        noise = [decided(number, text, weeks=number) for number, text in enumerate(NOISE, 10)]
        new = decided(2, "Each customer has a sequence of numbers", weeks=5, summary="Invoices count from 1 for each.")
        new = attrs.evolve(new, facts=(replacing(before),))
        await remember(services, decided(1, before), *noise, new)
        brief = (await services.session_context.context(NAMESPACE, folder=None)).text
        (line,) = [each for each in brief.splitlines() if before in each]
        assert line.startswith(f"- {new.title}")
        told = (await services.recall.answer(NAMESPACE, TextBody(question), session_id="s")).context
        assert f'was "{before}" until' in told
        assert replacing(before) not in told

    in_daemon(scenario, config=Config(recall=RecallConfig(prompts="all", budget_seconds=10.0)))


def test_all_that_a_memory_states_to_replace_is_told_no_more_whatever_sort_either_is_of() -> None:
    titles = ("Invoices are numbered by year", "Invoices are sent by letter", "Invoices are due in a week")

    async def scenario(services: Services) -> None:
        ruled_, chosen, plain = (decided(number, title, weeks=number) for number, title in enumerate(titles, 1))
        rule = attrs.evolve(ruled_, knowledge_type=KnowledgeType.CONSTRAINT)
        new = decided(9, "The tax office keeps the books", weeks=5, summary="All of it.")
        new = attrs.evolve(new, knowledge_type=None, facts=tuple(map(replacing, titles)))
        await remember(services, rule, chosen, attrs.evolve(plain, knowledge_type=None), new)
        brief = (await services.session_context.context(NAMESPACE, folder=None)).text
        assert [
            line for line in brief.splitlines() if "nvoices" in line and not line.startswith(f"- {new.title}")
        ] == []
        assert brief.count(f"- {new.title}") == 1

    in_daemon(scenario)


def test_the_brief_says_what_a_rule_replaced() -> None:
    async def scenario(services: Services) -> None:
        old, new = (
            attrs.evolve(decided(number, title, weeks=number, summary=title), knowledge_type=KnowledgeType.CONSTRAINT)
            for number, title in enumerate(("Always use npm", "Always use pnpm"), 1)
        )
        await remember(services, old, new)
        brief = (await services.session_context.context(NAMESPACE, folder=None)).text
        (line,) = [each for each in brief.splitlines() if "npm" in each]
        assert (
            line
            == f'- Always use pnpm ({new.created_at:%Y-%m-%d}; was "Always use npm" until {new.created_at:%Y-%m-%d})'
        )

    in_daemon(scenario)


def test_what_rests_on_a_replaced_decision_says_so() -> None:
    old, resting = (
        decided(1, "RabbitMQ carries the orders"),
        decided(2, "Dead letters of RabbitMQ stay for a day", weeks=1),
    )
    new, later = (
        decided(3, "Kafka replaced RabbitMQ", weeks=5),
        decided(4, "The RabbitMQ image is kept for tests", weeks=6),
    )
    found = Amended.of([], [later, new, resting, old])
    assert {*found.replaced} == {old.record_id}
    assert found.notes[resting.record_id] == f'from before "Kafka replaced RabbitMQ", {new.created_at:%Y-%m-%d}'
    assert later.record_id not in found.notes


def test_what_amends_stands_in_the_place_of_what_it_replaced() -> None:
    old, new, other = (
        decided(1, "RabbitMQ carries the orders"),
        decided(2, "Kafka replaced RabbitMQ", weeks=5),
        decided(9, "x"),
    )
    found = Amended.of([], [other, new, old])
    assert found.holding([other, old]) == [other, new]
    assert found.holding([other, new, old]) == [other, new]


def ruled(number: int, title: str, *, weeks: float = 0) -> MemoryRecord:
    return attrs.evolve(decided(number, title, weeks=weeks, summary=title), knowledge_type=KnowledgeType.CONSTRAINT)


ENDED_RULES = [
    ("Always format with Black", "We migrated from Black to ruff format.", "how do we format the code?"),
    ("Always deploy with make deploy", "make deploy is gone, deploy with ./ship now.", "how do we deploy?"),
    ("Use Jest for all tests", "We're on vitest now, jest is gone.", "which tests use Jest?"),
    (
        "We use zustand, not redux",
        "we'll move from zustand to jotai, because it is smaller",
        "do we use zustand or redux?",
    ),
]


@pytest.mark.parametrize(("before", "after", "question"), ENDED_RULES)
@pytest.mark.parametrize("of", [decided, ruled])
def test_a_rule_that_a_later_choice_ends_is_told_by_brief_and_answer_as_what_was(
    before: str, after: str, question: str, of: Callable[..., MemoryRecord]
) -> None:
    async def scenario(services: Services) -> None:
        old, new = ruled(1, before), of(2, after, weeks=5)
        await remember(services, old, new)
        brief = (await services.session_context.context(NAMESPACE, folder=None)).text
        answer = (await services.recall.answer(NAMESPACE, TextBody(question), session_id="s")).context
        note = f'was "{before}" until {new.created_at:%Y-%m-%d}'
        assert note in brief
        assert f"- {before}" not in brief
        assert note in answer
        assert f"### {before}" not in answer.partition(after)[0]

    in_daemon(scenario, config=Config(recall=RecallConfig(prompts="all", budget_seconds=10.0)))


def test_what_an_agent_says_ends_no_rule_of_a_person() -> None:
    old = ruled(1, "Always format with Black")
    new = attrs.evolve(decided(2, "Black was replaced by ruff format", weeks=5), origin=Origin.ASSISTANT)
    assert not Amended.of([old], [new]).replaced


def test_a_rule_that_a_newer_rule_overrules_is_told_to_no_prompt() -> None:
    async def scenario(services: Services) -> None:
        old, new = ruled(1, "Always use npm here"), ruled(2, "Always use pnpm here", weeks=5)
        await remember(services, old, new)
        answer = await services.recall.answer(NAMESPACE, TextBody("npm or pnpm here?"), session_id="s")
        assert answer.record_ids == (new.record_id,)
        assert f'was "Always use npm here" until {new.created_at:%Y-%m-%d}' in answer.context

    in_daemon(scenario, config=Config(recall=RecallConfig(prompts="all", budget_seconds=10.0)))


def test_a_fact_is_told_below_what_corrected_it() -> None:
    async def scenario(services: Services) -> None:
        old = decided(1, "Money is a Decimal, and rounding is ROUND_HALF_EVEN")
        new = decided(2, "Rounding is ROUND_HALF_UP now in invoices/models.py", weeks=5)
        noise = [decided(number, text, weeks=number) for number, text in enumerate(NOISE, 10)]
        await remember(services, old, *noise, new)
        told = (await services.recall.answer(NAMESPACE, TextBody("how is money rounded?"), session_id="s")).context
        assert f'was "{old.title}" until' in told

    in_daemon(scenario, config=Config(recall=RecallConfig(prompts="all", budget_seconds=10.0)))
