"""An agent is told a rule when it is about to do the act that the rule is about, once in a session."""

from __future__ import annotations

import json
from typing import Any

import attrs
import trio

from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import KnowledgeItem
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.model.retrieval import Occasion
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.retrieval.rendering.brief import ACT_BYTES
from kiro_learn.services.hooks import Answered
from kiro_learn.services.services import Services
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.wire.hook_payload import answer_to
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/shop"
COMMIT: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "git commit -m 'Add the cart'"}}


class CountingStorage(InMemoryStorage):
    """A store that counts its lists of records."""

    list_count = 0

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        self.list_count += 1
        return await super().list_records(query)


async def rule(services: Services, title: str) -> RecordId:
    item = KnowledgeItem(project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=title)
    return (await services.observe.add_knowledge(item)).record_id


async def hook(services: Services, name: str, agent: str = "claude-code", **fields: Any) -> Answered:
    payload = {"hook_event_name": name, "cwd": FOLDER, "session_id": "s", **fields}
    return await services.hooks.take(agent, json.dumps(payload).encode(), {}, retrieve=True)


async def before(services: Services, agent: str = "claude-code", **fields: Any) -> str:
    return (await hook(services, "PreToolUse", agent, **(COMMIT | fields))).context


async def event_count(services: Services) -> int:
    return (await services.queries.events(namespace=None, limit=10, cursor=None)).total


@attrs.frozen
class InSpool:
    """A request that waited in the spool."""

    agent: str
    payload: bytes
    headers: dict[str, str]


def test_a_rule_is_told_once_a_session_as_its_act_is_about_to_be_done() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        assert await before(services, tool_input={"command": "git status"}) == ""
        told = await before(services)
        assert "Never commit without running the tests" in told
        assert len(told.encode()) <= ACT_BYTES
        assert await before(services) == ""
        assert await before(services, session_id="another") == told
        assert await before(services, "codex", session_id="third") == told

    in_daemon(scenario)


def test_what_is_told_at_a_start_and_on_an_act_is_in_the_log_and_counts_as_no_answer() -> None:
    async def scenario(services: Services) -> None:
        record_id = await rule(services, "Never commit without running the tests")
        began = await hook(services, "SessionStart", source="startup")
        acted = await before(services)
        act, start = services.retrievals.latest(namespace=None, limit=10)
        assert (act.occasion, start.occasion) == (Occasion.ACT, Occasion.START)
        for report, told in ((act, acted), (start, began.context)):
            assert [each.record_id for each in report.records if each.shown] == [record_id]
            assert (report.context_bytes, report.agent) == (len(told.encode()), "claude-code")
            assert (report.session_id, report.outcome) == ("s", "told")
        assert services.retrievals.statistics().asked == services.retrievals.latencies(namespace=None).answers == 0
        assert services.retrievals.rates(namespace=None).retrievals == 0
        found = await services.retrieval_details.of(act.retrieval_id)
        assert found is not None
        assert (list(found.memories), found.text) == ([record_id], None)

    in_daemon(scenario)


def test_nothing_of_it_is_stored_and_nothing_is_pending() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        count = await event_count(services)
        answered = await hook(services, "PreToolUse", **COMMIT)
        assert (answered.is_before_tool, answered.is_pending) == (True, False)
        assert await event_count(services) == count

    in_daemon(scenario)


def test_a_rule_of_the_brief_is_told_once_more_on_its_act_and_again_after_a_compaction() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        assert "Never commit" in (await hook(services, "SessionStart", source="startup")).context
        assert "Never commit" in await before(services)
        assert await before(services) == ""
        await hook(services, "SessionStart", source="compact")
        assert "Never commit" in await before(services)

    in_daemon(scenario)


def test_what_a_prompt_was_told_is_not_told_on_the_act() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit the cart without running its tests")
        prompt = "why do we never commit the cart without running its tests?"
        told = (await hook(services, "UserPromptSubmit", prompt=prompt)).context
        assert "Never commit the cart" in told
        assert await before(services) == ""

    in_daemon(scenario)


def test_a_rule_is_known_as_it_is_stored_and_gone_as_it_is_forgotten() -> None:
    async def scenario(services: Services) -> None:
        assert await before(services) == ""
        record_id = await rule(services, "Never commit without running the tests")
        assert await before(services, session_id="2") != ""
        await services.forget.forget(record_id)
        assert await before(services, session_id="3") == ""

    in_daemon(scenario)


def test_the_rules_of_a_project_are_read_once() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        for number in range(20):
            await before(services, session_id=str(number))
        assert storage.list_count == 1

    storage = CountingStorage()
    in_daemon(scenario, storage=storage)


def test_several_rules_share_the_bytes_and_a_long_one_is_cut() -> None:
    async def scenario(services: Services) -> None:
        for number in range(5):
            await rule(services, f"Commits of part {number} name the ticket and say in the body why they are made")
        first, second = await before(services), await before(services)
        assert max(len(each.encode()) for each in (first, second)) <= ACT_BYTES
        assert not set(first.splitlines()[1:]) & set(second.splitlines()[1:])
        await rule(services, "Never push " + "to any branch of anybody else " * 6)
        told = await before(services, tool_input={"command": "git push"})
        assert "Never push" in told
        assert len(told.encode()) <= ACT_BYTES

    in_daemon(scenario)


def test_an_agent_without_such_a_hook_is_told_with_its_next_prompt() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        assert (await hook(services, "preToolUse", "kiro-cli", **COMMIT)).context == ""
        used = COMMIT | {"tool_response": {"success": True}}
        assert (await hook(services, "postToolUse", "kiro-cli", **used)).context == ""
        told = (await hook(services, "userPromptSubmit", "kiro-cli", prompt="ok go on")).context
        assert "Never commit" in told
        assert len(told.encode()) <= ACT_BYTES
        await trio.sleep(10)
        await hook(services, "postToolUse", "kiro-cli", **used)
        assert (await hook(services, "userPromptSubmit", "kiro-cli", prompt="go on")).context == ""

    in_daemon(scenario)


def test_what_waits_for_a_prompt_is_not_told_where_it_was_forgotten_or_stood_in_the_brief() -> None:
    async def scenario(services: Services) -> None:
        record_id = await rule(services, "Never commit without running the tests")
        used = COMMIT | {"tool_response": {"success": True}}
        await hook(services, "agentSpawn", "kiro-cli")
        await hook(services, "postToolUse", "kiro-cli", **used)
        assert (await hook(services, "userPromptSubmit", "kiro-cli", prompt="ok go on")).context == ""
        await hook(services, "postToolUse", "kiro-cli", **(used | {"session_id": "t"}))
        await services.forget.forget(record_id)
        assert (await hook(services, "userPromptSubmit", "kiro-cli", prompt="ok go on", session_id="t")).context == ""

    in_daemon(scenario)


def test_a_plain_prompt_of_an_agent_with_such_a_hook_is_told_nothing_more() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        await hook(services, "PostToolUse", **(COMMIT | {"tool_response": {"success": True}}))
        assert (await hook(services, "UserPromptSubmit", prompt="ok go on")).context == ""

    in_daemon(scenario)


def test_a_request_of_the_spool_that_only_asked_is_dropped() -> None:
    async def scenario(services: Services) -> None:
        payload = json.dumps({"hook_event_name": "PreToolUse", "cwd": FOLDER, "session_id": "s", **COMMIT}).encode()
        await services.hooks.take_all([InSpool("claude-code", payload, {})])
        assert await event_count(services) == 0

    in_daemon(scenario)


def test_the_answer_leaves_the_tool_to_the_agent() -> None:
    for agent in ("claude-code", "codex"):
        output = json.loads(answer_to(agent, "Remembered", is_before_tool=True))
        assert output == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "Remembered"}}
        assert answer_to(agent, "", is_before_tool=True) == ""


def test_a_project_that_is_paused_is_told_nothing_on_an_act() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Never commit without running the tests")
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        await services.pauses.pause(namespace, None)
        assert await before(services) == ""
        await services.pauses.resume(namespace, None)
        assert "Never commit" in await before(services)

    in_daemon(scenario)
