"""A memory names its branch until that is merged, and comes first if the branch is checked out."""

from __future__ import annotations

import attrs

from kiro_learn.config import Config, ReconciliationConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.namespace import project_id_in
from kiro_learn.model.record import MemoryRecord, RecordFilter
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, FixedBranches, an_event
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from tests.unit.services.in_daemon import in_daemon, transact_in_daemon
from tests.unit.storage.builders import record

PROJECT = project_id_in(NAMESPACE)
APART = Config(reconciliation=ReconciliationConfig(enabled=False))
BASKET = TextBody("why does the basket forget its prices over night")


async def learn(services: Services, number: int, branch: str | None) -> MemoryRecord:
    """Learn one event that happened on ``branch``; return its memory."""
    event = an_event(number)
    await services.capture.take(attrs.evolve(event, source=attrs.evolve(event.source, branch=branch)))
    await services.learn.flush(PROJECT)
    page = await services.queries.records(namespace=NAMESPACE, limit=50, offset=0)
    return next(each for each in page.items if event.event_id in each.source_event_ids)


def test_a_memory_has_its_branch_until_something_is_learned_after_the_merge() -> None:
    branches = FixedBranches()

    async def scenario(services: Services) -> None:
        assert (await learn(services, 1, "main")).branch is None
        assert (await learn(services, 2, None)).branch is None
        made = await learn(services, 3, "feature")
        assert made.branch == "feature"
        assert (await learn(services, 4, "main")).branch is None

        branches.merged_names.add("feature")
        await learn(services, 5, "main")
        assert (await services.project_records.read(NAMESPACE, [made.record_id])).records[0].branch is None

    in_daemon(scenario, branches=branches, config=APART, llm=ScriptedLlm(a_record_per_event))


async def keep(services: Services, number: int, title: str, branch: str | None = None) -> str:
    made = record(number, title, namespace=NAMESPACE, summary=f"{title}.", branch=branch)
    await transact_in_daemon(services, lambda transaction: transaction.put_memory_record(made))
    return made.record_id


def test_what_was_learned_on_the_branch_that_is_checked_out_is_told_first() -> None:
    async def scenario(services: Services) -> None:
        for number in range(1, 8):
            await keep(services, number, f"The basket keeps price {number} over night")
        on_branch = await keep(services, 8, "The basket keeps price 8 over night", "feature")

        elsewhere = await services.recall.answer(NAMESPACE, BASKET, branch="main")
        assert elsewhere.context.count("; on branch feature)") == 1

        here = await services.recall.answer(NAMESPACE, BASKET, branch="feature")
        assert here.record_ids[0] == on_branch
        assert "on branch" not in here.context
        assert [each.record_id for each in here.found if each.is_of_branch] == [on_branch]
        assert here.found[0].score > next(each.score for each in elsewhere.found if each.record_id == on_branch)

    in_daemon(scenario)


def test_where_nobody_uses_branches_the_block_is_the_same_to_the_byte() -> None:
    async def scenario(services: Services) -> None:
        for number in range(1, 9):
            await keep(services, number, f"The basket keeps price {number} over night")
        told = [
            (await services.recall.answer(NAMESPACE, BASKET, branch=branch)) for branch in (None, "main", "feature")
        ]
        assert told[0].context
        assert len({each.context for each in told}) == 1
        assert len({tuple((found.record_id, found.score) for found in each.found) for each in told}) == 1

    in_daemon(scenario)


def test_memories_of_a_branch_are_found_by_it() -> None:
    async def scenario(services: Services) -> None:
        await keep(services, 1, "The basket keeps its prices")
        on_branch = await keep(services, 2, "The basket forgets its prices", "feature")
        named = await services.project_names.resolve(NAMESPACE)
        found = await services.activity.records(named, limit=9, wanted=RecordFilter(branch="feature"))
        assert [each.record_id for each in found.items] == [on_branch]

    in_daemon(scenario)


def test_a_session_is_told_of_which_branch_a_memory_is() -> None:
    async def scenario(services: Services) -> None:
        await keep(services, 1, "The basket forgets its prices", "feature")
        brief = await services.session_context.context(NAMESPACE, folder=None)
        assert "; on branch feature)" in brief.text

    in_daemon(scenario)
