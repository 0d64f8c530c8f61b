"""Questions in the past tense find facts that have ended, even if they name only a time or "we"."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kiro_learn.model.graph import EntityType, Validity
from kiro_learn.pipelines.recall.context import ContextRequest
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record
from tests.unit.pipelines.recall.test_context import now, told
from tests.unit.storage import contract_graph as graph

SHOP = graph.entity(1, "shop", namespace=NAMESPACE, type=EntityType.PROJECT)
OTHER = graph.entity(2, "billing", namespace=NAMESPACE, type=EntityType.PROJECT)
FOLDER = "/home/ada/shop"


def used(number: int, object_: str, *, from_days: int | None, until_days: int | None, of: Any = SHOP) -> Any:
    """A fact that began (None: always) and ended (None: still holds) some days ago, when it was last confirmed."""
    began, ended = (None if days is None else now() - timedelta(days=days) for days in (from_days, until_days))
    validity = Validity(observed_at=now() - timedelta(days=from_days or 900), valid_from=began, valid_until=ended)
    return graph.fact(number, of, object_, predicate="uses", validity=validity, last_confirmed_at=ended or now())


KNOWN = (
    SHOP,
    OTHER,
    used(1, "MySQL", from_days=None, until_days=200),
    used(2, "PostgreSQL", from_days=200, until_days=None),
    used(3, "npm", from_days=None, until_days=900),
    used(4, "pnpm", from_days=900, until_days=None),
    used(5, "Oracle", from_days=None, until_days=300, of=OTHER),
)


async def block(services: Services, message: str) -> str:
    return (await services.contexts.builder.build(NAMESPACE, ContextRequest(message=message, folder=FOLDER))).text


@pytest.mark.parametrize(
    "question",
    [
        "what did we use before?",
        "which database did we use before?",
        "what was our database previously?",
        "what did we use to run on?",
        "what was the old database?",
        "what have we used in the past?",
    ],
)
def test_a_question_in_the_past_tense_is_told_what_ended(question: str) -> None:
    async def scenario(services: Services) -> None:
        text = await block(services, question)
        assert "- shop uses MySQL (confidence: 1, until 2025-06-19)" in text
        assert "- shop uses npm (confidence: 1, until 2023-07-20)" in text, "what ended long ago did not fade since"
        assert "Oracle" not in text, "another project's"

    told(scenario, *KNOWN)


@pytest.mark.parametrize("question", ["what was the database until June?", "what did we use until 2025-06-10?"])
def test_what_held_until_a_time_is_told_as_of_just_before_it(question: str) -> None:
    async def scenario(services: Services) -> None:
        text = await block(services, question)
        assert "shop uses MySQL" in text
        assert "shop uses pnpm" in text, "it held then too"
        assert "PostgreSQL" not in text
        assert "npm (confidence: 1, until" not in text

    told(scenario, *KNOWN)


@pytest.mark.parametrize("message", ["what do we use?", "keep the flag until June", "add a test before you commit"])
def test_any_other_message_is_told_nothing_that_ended(message: str) -> None:
    async def scenario(services: Services) -> None:
        text = await block(services, message)
        assert "MySQL" not in text
        assert "npm (" not in text.replace("pnpm (", "")

    told(scenario, *KNOWN)


def test_of_a_hundred_facts_those_that_ended_are_told_first() -> None:
    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "Where the database went"))
        assert "shop uses MySQL" in await block(services, "what was our database before?")

    many = (used(number, f"tool{number}", from_days=900, until_days=None) for number in range(10, 110))
    told(scenario, *KNOWN, *many)
