"""A pinned memory is in every brief, can be removed only by a person, and changes no answer to a prompt."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import NothingToUndo, UnknownRecord
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import KnowledgeItem, Observation
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.model.retention import RetentionRules
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record
from kiro_learn.testing.simulation import EPOCH
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/shop"
MISSING = RecordId("mr_" + "9" * 26)


async def observe(services: Services, title: str) -> RecordId:
    return (await services.observe.observe(Observation(project=FOLDER, title=title))).record_id


async def rule(services: Services, title: str, **values: Any) -> RecordId:
    item = KnowledgeItem(
        project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=f"Said: {title}.", **values
    )
    return (await services.observe.add_knowledge(item)).record_id


async def brief(services: Services, *, most_bytes: int | None = None) -> str:
    namespace = (await services.project_names.resolve(FOLDER)).namespace
    return (await services.session_context.context(namespace, folder=None, most_bytes=most_bytes)).text


async def prompt(services: Services, text: str, session: str) -> str:
    payload = {"hook_event_name": "UserPromptSubmit", "cwd": FOLDER, "session_id": session, "prompt": text}
    answered = await services.hooks.take(
        "claude-code", json.dumps(payload).encode(), {"x-hook-process": "77"}, retrieve=True
    )
    return answered.context


def test_a_pin_is_set_once_and_taken_away() -> None:
    async def scenario(services: Services) -> None:
        record = a_record(1, "Lions are striped")
        await services.remember.put(record)
        pinned = await services.history.pin(record.record_id)
        assert attrs.evolve(pinned, pinned_at=None) == record
        assert pinned.pinned_at is not None
        await trio.sleep(60)
        assert await services.history.pin(record.record_id) == pinned, "it keeps its time"
        assert await services.queries.record(record.record_id) == pinned
        assert await services.history.unpin(record.record_id) == record
        assert await services.history.unpin(record.record_id) == record
        assert await services.queries.record(record.record_id) == record

    in_daemon(scenario)


def test_two_who_pin_at_once_are_both_answered() -> None:
    async def scenario(services: Services) -> None:
        record = a_record(1, "Lions are striped")
        await services.remember.put(record)
        for change in (services.history.pin, services.history.unpin):
            answers: list[MemoryRecord] = []

            async def ask(change: Callable[[RecordId], Awaitable[MemoryRecord]], answers: list[MemoryRecord]) -> None:
                answers.append(await change(record.record_id))

            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(ask, change, answers)
            assert answers == [await services.queries.record(record.record_id)] * 2

    in_daemon(scenario)


def test_what_is_not_there_is_not_pinned() -> None:
    async def scenario(services: Services) -> None:
        record = a_record(1, "Lions are striped")
        await services.remember.put(record)
        await services.project_records.edit(NAMESPACE, record.record_id, Correction(title="Zebras are striped"))
        for record_id in (MISSING, record.record_id):
            with pytest.raises(UnknownRecord):
                await services.history.pin(record_id)
            with pytest.raises(UnknownRecord):
                await services.history.unpin(record_id)

    in_daemon(scenario)


def test_an_undo_takes_back_a_pin_that_came_last_and_then_what_was_before() -> None:
    async def scenario(services: Services) -> None:
        record = a_record(1, "Lions are striped")
        await services.remember.put(record)
        edited = await services.project_records.edit(NAMESPACE, record.record_id, Correction(title="Zebras are"))
        await trio.sleep(60)
        await services.history.pin(edited.record_id)
        undone = await services.history.undo(edited.record_id)
        assert (undone, await services.queries.record(edited.record_id)) == (None, edited)
        undone = await services.history.undo(edited.record_id)
        assert undone is not None
        assert await services.queries.record(record.record_id) == record
        with pytest.raises(NothingToUndo):
            await services.history.undo(record.record_id)

    in_daemon(scenario)


def test_an_edit_of_a_pinned_memory_is_pinned_and_is_undone_first() -> None:
    async def scenario(services: Services) -> None:
        record = a_record(1, "Lions are striped")
        await services.remember.put(record)
        pinned = await services.history.pin(record.record_id)
        await trio.sleep(60)
        edited = await services.project_records.edit(NAMESPACE, record.record_id, Correction(title="Zebras are"))
        assert edited.pinned_at == pinned.pinned_at
        assert await services.history.undo(edited.record_id) is not None
        assert await services.queries.record(record.record_id) == pinned

    in_daemon(scenario)


def test_every_brief_tells_what_is_pinned_after_hard_rules_and_before_all_else() -> None:
    async def scenario(services: Services) -> None:
        pinned = await observe(services, "The harbour closes at noon")
        await rule(services, "Never push to main", severity="hard")
        await rule(services, "Prefer small commits")
        for number in range(40):
            await trio.sleep(60)
            await observe(services, f"Looked at report number {number} of the week")
        assert "The harbour closes at noon" not in await brief(services)
        await services.history.pin(pinned)
        told = await brief(services)
        places = [told.index(each) for each in ("Never push", "### Pinned", "The harbour closes", "Prefer small")]
        assert places == sorted(places)
        assert told.count("The harbour closes at noon") == 1
        least = await brief(services, most_bytes=200)
        assert len(least.encode()) <= 200
        assert "Never push" in least
        assert "The harbour closes" in least
        await services.history.unpin(pinned)
        assert "The harbour closes" not in await brief(services)

    in_daemon(scenario)


def test_a_hard_rule_that_is_pinned_is_told_once_among_the_hard_ones() -> None:
    async def scenario(services: Services) -> None:
        await services.history.pin(await rule(services, "Never push to main", severity="hard"))
        told = await brief(services)
        assert told.count("Never push to main") == 1
        assert "### Pinned" not in told

    in_daemon(scenario)


def test_what_is_pinned_is_told_even_if_an_older_brief_would_leave_it_out() -> None:
    """A newer rule replaced the pinned one; by the pin, a person says that the old one holds."""

    async def scenario(services: Services) -> None:
        old = await rule(services, "Use npm for packages")
        await trio.sleep(60)
        await rule(services, "Use pnpm for packages")
        assert "\n- Use npm" not in await brief(services)
        await trio.sleep(60)
        await services.history.pin(old)
        assert "\n- Use npm" in await brief(services)

    in_daemon(scenario)


def test_a_pin_changes_no_answer_to_a_prompt() -> None:
    """Neither silence nor the order changes; a pinned memory is shown in the brief."""
    prompts = ("What should I cook tonight?", "How many does the zebra pool hold?", "zebra", "Thanks, that is all.")
    answers: list[list[str]] = []

    def told(is_pinned: bool) -> None:
        async def scenario(services: Services) -> None:
            pinned = await observe(services, "The harbour closes at noon")
            await observe(services, "The zebra pool holds twenty")
            await observe(services, "The zebra pool was built in spring")
            await trio.sleep(10)
            if is_pinned:
                await services.history.pin(pinned)
            answers.append([await prompt(services, text, f"s{number}") for number, text in enumerate(prompts)])

        in_daemon(scenario)

    told(is_pinned=False)
    told(is_pinned=True)
    assert answers[0] == answers[1]
    assert answers[0][0] == answers[0][3] == ""
    assert "zebra pool holds" in answers[0][1]


def test_age_leaves_what_is_pinned_whole() -> None:
    async def scenario(services: Services) -> None:
        long = attrs.evolve(
            a_record(1, "Lions are striped", "A sentence of the zoo. " * 100),
            created_at=EPOCH.replace(year=2020),
            facts=tuple(f"fact {number} of the zoo" for number in range(20)),
        )
        await services.remember.put(long)
        pinned = await services.history.pin(long.record_id)
        aged = await services.retention.apply(RetentionRules(event_days=1, distill_days=1, replaced_days=1))
        assert aged.memories.count == 0
        assert await services.queries.record(long.record_id) == pinned
        await services.history.unpin(long.record_id)
        aged = await services.retention.apply(RetentionRules(event_days=1, distill_days=1, replaced_days=1))
        assert aged.memories.count == 1

    in_daemon(scenario, config=Config(recall=RecallConfig()))
