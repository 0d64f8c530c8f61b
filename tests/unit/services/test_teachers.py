"""In a project of several people, nobody's agents are told unasked what only somebody else's agents reported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs
import pytest

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.event import Event
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from tests.unit.services.test_act_rules import FOLDER, before
from tests.unit.services.test_session_context import start

BOBS = namespace_of("bob", "shop")
OWN_RULE, BOBS_RULE = "Always sign your commits with git commit -S", "Never commit on a Friday with git commit"


def told_by(actor_id: str, number: int, title: str, namespace: Namespace) -> tuple[Event, MemoryRecord]:
    event = attrs.evolve(an_event(number, namespace=namespace), actor_id=actor_id)
    rule = attrs.evolve(
        a_record(number, title, title, namespace=namespace),
        knowledge_type=KnowledgeType.CONSTRAINT,
    )
    return event, rule


async def put(services: Services, actor_id: str, number: int, title: str, namespace: Namespace) -> MemoryRecord:
    event, rule = told_by(actor_id, number, title, namespace)
    await services.capture.take(event)
    await services.remember.put(rule)
    return rule


def in_shared_project(scenario: Callable[[Services, MemoryRecord], Awaitable[None]], trusted: str = "") -> None:
    async def main() -> None:
        async with simulated_daemon(config=Config(recall=RecallConfig(trusted=trusted))) as services:
            own = (await services.project_finder.project_of(FOLDER)).namespace
            await put(services, "ada", 1, OWN_RULE, own)
            bobs = await put(services, "bob", 2, BOBS_RULE, BOBS)
            await services.project_merges.merge(own, BOBS)
            await scenario(services, bobs)

    simulate(main)


def test_a_rule_that_only_another_persons_agents_heard_is_told_once_it_is_pinned() -> None:
    async def scenario(services: Services, bobs: MemoryRecord) -> None:
        brief, on_act = await start(services, "s1"), await before(services, session_id="s2")
        assert OWN_RULE in brief
        assert OWN_RULE in on_act
        assert BOBS_RULE not in brief + on_act
        await services.history.pin(bobs.record_id)
        assert BOBS_RULE in await start(services, "s3")

    in_shared_project(scenario)


@pytest.mark.parametrize("trusted", ["bob", "carol, bob", "*"])
def test_a_rule_of_somebody_who_is_trusted_is_told(trusted: str) -> None:
    async def scenario(services: Services, _bobs: MemoryRecord) -> None:
        brief, on_act = await start(services, "s1"), await before(services, session_id="s2")
        assert OWN_RULE in brief
        assert BOBS_RULE in brief
        assert BOBS_RULE in on_act

    in_shared_project(scenario, trusted)


def test_in_a_project_of_one_person_it_does_not_matter_who_reported_what() -> None:
    """A program may give itself any name."""

    async def main() -> None:
        async with simulated_daemon() as services:
            own = (await services.project_finder.project_of(FOLDER)).namespace
            await put(services, "some program", 1, BOBS_RULE, own)
            assert BOBS_RULE in await start(services, "s1")

    simulate(main)
