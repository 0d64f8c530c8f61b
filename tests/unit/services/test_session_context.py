"""A session is told its brief when it starts: once, within its budget, knowledge first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.learning import overruled
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import KnowledgeItem, Observation
from kiro_learn.model.record import MODEL_STRATEGY, KnowledgeType, MemoryRecord, Origin, Severity
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.retrieval.rendering.passages import count_tokens
from kiro_learn.services.hooks import Answered
from kiro_learn.services.services import Services
from kiro_learn.services.session_context import MOST_READ
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.simulation import EPOCH
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/shop"


class CountingStorage(InMemoryStorage):
    """A store that counts the rows of its lists of records."""

    read_count = 0

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        page = await super().list_records(query)
        self.read_count += len(page)
        return page


async def observe(services: Services, title: str, text: str = "") -> None:
    await services.observe.observe(Observation(project=FOLDER, title=title, text=text))


async def decide(services: Services, title: str) -> None:
    item = KnowledgeItem(project=FOLDER, knowledge_type=KnowledgeType.DECISION, title=title, content=f"why {title}")
    await services.observe.add_knowledge(item)


async def namespace(services: Services) -> Namespace:
    return (await services.project_names.resolve(FOLDER)).namespace


async def hook(services: Services, name: str, agent: str = "claude-code", **fields: Any) -> Answered:
    payload = {"hook_event_name": name, "cwd": FOLDER, **fields}
    headers = {"x-hook-process": "77"}
    return await services.hooks.take(agent, json.dumps(payload).encode(), headers, retrieve=True)


async def start(services: Services, session: str = "s", source: str = "startup") -> str:
    return (await hook(services, "SessionStart", session_id=session, source=source)).context


def test_a_session_is_told_once_and_again_after_its_context_was_emptied() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        first = await start(services)
        assert first.startswith("## Prior observations from kiro-learn")
        assert "The pool holds twenty" in first
        assert [await start(services, source=source) for source in ("startup", "resume")] == ["", ""]
        assert [await start(services, source=source) for source in ("compact", "clear")] == [first, first]
        assert await start(services, session="t") == first

    in_daemon(scenario)


def test_a_resumed_session_is_told_what_was_laid_down_elsewhere_since() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "npm", "Install packages with npm")
        assert "Install packages with npm" in await start(services)
        await ask(services, "go on")
        await trio.sleep(1)
        await rule(services, "pnpm", "Install packages with pnpm, never with npm")
        await observe(services, "The pool holds twenty")
        told = await start(services, source="resume")
        assert [line for line in told.splitlines() if line.startswith("- ")] == [
            line for line in told.splitlines() if "with pnpm" in line
        ]
        assert told.count("with pnpm, never") == 1
        await ask(services, "go on")
        assert await start(services, source="resume") == ""

    in_daemon(scenario)


def test_a_session_whose_hooks_come_together_is_told_once() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        told: list[str] = []

        async def begin(name: str, agent: str) -> None:
            told.append((await hook(services, name, agent, session_id="s")).context)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(begin, "SessionStart", "claude-code")
                nursery.start_soon(begin, "agentSpawn", "kiro-cli")
        assert sorted(bool(each) for each in told) == [False] * 5 + [True]

    in_daemon(scenario)


def test_an_agent_that_starts_at_every_prompt_and_names_no_session_is_told_once() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        told = [(await hook(services, "agentSpawn", "kiro-cli")).context for _ in range(3)]
        assert [bool(each) for each in told] == [True, False, False]
        named = [(await hook(services, "agentSpawn", "kiro-cli", session_id="s")).context for _ in range(3)]
        assert [bool(each) for each in named] == [True, False, False]

    in_daemon(scenario)


def test_a_session_that_was_told_is_not_told_again_after_a_restart() -> None:
    storage = InMemoryStorage()

    async def before(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        assert await start(services)
        await trio.sleep(10)

    async def after(services: Services) -> None:
        assert await start(services) == ""

    in_daemon(before, storage=storage)
    in_daemon(after, storage=storage.copied())


def test_what_a_start_told_a_prompt_does_not_tell_again() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The zebra pool holds twenty")
        await trio.sleep(10)
        assert await start(services)
        prompt = "How many does the zebra pool hold?"
        assert (await hook(services, "UserPromptSubmit", session_id="s", prompt=prompt)).context == ""
        assert (await hook(services, "UserPromptSubmit", session_id="t", prompt=prompt)).context

    in_daemon(scenario)


def test_a_project_without_memories_is_told_nothing() -> None:
    async def scenario(services: Services) -> None:
        assert await start(services) == ""
        await observe(services, "The pool holds twenty")
        assert await start(services)

    in_daemon(scenario)


def test_knowledge_stands_on_top_however_old_it_is() -> None:
    async def scenario(services: Services) -> None:
        old = a_record(1, "Old rule", namespace=await namespace(services))
        last_year = attrs.evolve(old, created_at=EPOCH - timedelta(days=400), knowledge_type=KnowledgeType.CONSTRAINT)
        await services.remember.put(last_year)
        for number in range(60):
            await observe(services, f"Fresh observation {number}")
            await trio.sleep(1)
        await decide(services, "New decision")
        text = await start(services)
        places = [text.index(title) for title in ("Old rule", "New decision", "Fresh observation 59")]
        assert places == sorted(places)
        assert "Fresh observation 59" in text

    in_daemon(scenario)


async def rule(services: Services, title: str, content: str, severity: Severity = "hard") -> None:
    item = KnowledgeItem(
        project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=content, severity=severity
    )
    await services.observe.add_knowledge(item)


def test_a_hard_rule_is_told_whole_and_first_however_much_came_after_it() -> None:
    async def scenario(services: Services) -> None:
        text = ("Never write to the ledger outside of a transaction. " * 18).strip(" .")
        await rule(services, "A wish", "Prefer short names", "soft")
        await rule(services, "Ledger", text)
        for number in range(120):
            await trio.sleep(60)
            await decide(services, f"Decision {number}")
            await observe(services, f"Observation {number}", f"text{number} " * 80)
        told = await start(services)
        assert f"- Ledger: {text}" in told
        assert told.index("- Ledger: ") < told.index("- A wish: ") < told.index("- Decision 119 (")
        assert len(told.encode()) <= 2_500

    in_daemon(scenario)


def test_a_brief_has_its_parts_in_the_order_of_their_weight() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "Looked at the cache")
        for kind, title in ((KnowledgeType.REJECTED, "Redis"), (KnowledgeType.HEURISTIC, "Run make first")):
            item = KnowledgeItem(project=FOLDER, knowledge_type=kind, title=title, content=f"why {title}")
            await services.observe.add_knowledge(item)
        await rule(services, "A wish", "Prefer short names", "soft")
        await rule(services, "No secrets", "Never print .env", "hard")
        told = await start(services)
        headings = [line for line in told.splitlines() if line.startswith("### ")]
        assert headings == [
            "### Hard rules",
            "### Rules",
            "### How things are done here",
            "### Decided",
            "### Last worked on",
        ]

    in_daemon(scenario)


def test_many_rules_leave_room_for_what_else_is_known() -> None:
    async def scenario(services: Services) -> None:
        for number in range(60):
            await rule(services, f"Wish {number}", f"content {number} " * 10, "soft")
        await decide(services, "The port is 9090")
        assert "The port is 9090" in await start(services)

    in_daemon(scenario)


def test_a_prompt_is_told_of_what_the_brief_only_named() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The zebra pool", "It holds twenty. " + "It is filled by the feeder at night. " * 12)
        await trio.sleep(10)
        assert "The zebra pool" in await start(services)
        prompt = "How many does the zebra pool hold?"
        assert "holds twenty" in (await hook(services, "UserPromptSubmit", session_id="s", prompt=prompt)).context

    in_daemon(scenario)


def test_as_many_are_told_as_fit_however_short_they_are() -> None:
    async def scenario(services: Services) -> None:
        for number in range(150):
            await decide(services, f"D{number}")
        context = await services.session_context.context(await namespace(services), folder=FOLDER, tokens=4_000)
        assert context.text.count("\n- ") == 150

    in_daemon(scenario)


def test_what_says_the_same_is_told_once_and_what_contradicts_has_its_day() -> None:
    async def scenario(services: Services) -> None:
        item = KnowledgeItem(
            project=FOLDER, knowledge_type=KnowledgeType.DECISION, title="The pool", content="The pool holds twenty."
        )
        await services.observe.add_knowledge(item)
        await trio.sleep(86_400)
        await services.observe.add_knowledge(item)
        await trio.sleep(86_400)
        await services.observe.add_knowledge(attrs.evolve(item, content="The pool holds fifty."))
        days = [f"{EPOCH + timedelta(days=number):%Y-%m-%d}" for number in range(3)]
        told = await start(services)
        assert told.partition("### Decided\n\n")[2] == (
            f"- The pool holds fifty ({days[2]})\n- The pool holds twenty ({days[1]})\n"
        )

    in_daemon(scenario)


def test_a_brief_reads_no_further_than_its_bound_for_what_it_tells() -> None:
    """Thousands of choices in agents' words may come before one of a person."""
    storage = CountingStorage()

    async def scenario(services: Services) -> None:
        where = await namespace(services)
        for number in range(1, MOST_READ + 40):
            worded = attrs.evolve(
                a_record(number, f"Choice {number}", namespace=where),
                knowledge_type=KnowledgeType.DECISION,
                origin=Origin.ASSISTANT,
            )
            await services.remember.put(worded)
        storage.read_count = 0
        assert await start(services) == ""
        assert storage.read_count <= 2 * MOST_READ

    in_daemon(scenario, storage=storage)


def test_the_budget_of_tokens_is_kept() -> None:
    async def scenario(services: Services) -> None:
        for number in range(50):
            text = (f"long text {number} ", "f(x)[0]; ", "漢字")[number % 3] * 50
            await rule(services, f"Wish {number}", text, "soft")
        for tokens in (0, 10, 100, 500, 2_000):
            context = await services.session_context.context(await namespace(services), folder=FOLDER, tokens=tokens)
            assert count_tokens(context.text) <= tokens
            assert len(context.text.encode()) <= 4 * tokens
            assert tokens < 500 or count_tokens(context.text) > 0.8 * tokens
        assert len((await start(services)).encode()) <= 1_200

    in_daemon(scenario, config=Config(recall=RecallConfig(brief_bytes=1_200)))


def test_a_brief_of_no_bytes_is_none() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        assert await start(services) == ""

    in_daemon(scenario, config=Config(recall=RecallConfig(brief_bytes=0)))


def test_a_store_that_is_late_or_fails_is_told_of_by_nothing_within_the_deadline() -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        storage.read_gate = trio.Event()
        began = trio.current_time()
        assert await start(services) == ""
        assert trio.current_time() - began <= 0.5
        storage.read_gate.set()
        await trio.testing.wait_all_tasks_blocked()
        storage.fail_next_read(StorageBusy("locked"))
        assert await start(services) == ""
        assert await start(services)

    in_daemon(scenario, storage=storage)


def test_agents_that_want_json_are_told_which_hook_is_answered() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        assert (await hook(services, "SessionStart", "codex", session_id="c", source="startup")).is_at_start

    in_daemon(scenario)


def test_a_rule_that_a_newer_one_overrules_is_told_as_what_was_before() -> None:
    async def scenario(services: Services) -> None:
        for title in ("Always use npm", "Change of plans: always use pnpm"):
            item = KnowledgeItem(project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=title)
            await services.observe.add_knowledge(item)
            await trio.sleep(1)
        told = await start(services)
        (line,) = [each for each in told.splitlines() if "npm" in each]
        assert "always use pnpm" in line
        assert 'was "Always use npm" until' in line

    in_daemon(scenario)


def test_without_rule_files_and_preferences_no_memory_is_read_for_its_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That reading took half of the time of a brief in a project of 50,000 memories."""
    read: list[str] = []

    def stems(text: str) -> set[str]:
        read.append(text)
        return set()

    monkeypatch.setattr(overruled, "stems", stems)

    async def scenario(services: Services) -> None:
        for number in range(40):
            await decide(services, f"Use the pool number {number} for the gateway")
        assert (await services.session_context.context(await namespace(services), folder=FOLDER)).text
        assert read == []

    in_daemon(scenario)


def test_what_an_agent_tried_and_the_person_gave_up_is_told() -> None:
    async def scenario(services: Services) -> None:
        where = await namespace(services)
        for number, kind in enumerate((KnowledgeType.REJECTED, KnowledgeType.DECISION), start=1):
            await services.remember.put(
                attrs.evolve(
                    a_record(number, f"mmap is slower, {kind}", namespace=where),
                    knowledge_type=kind,
                    origin=Origin.ASSISTANT,
                )
            )
        told = await start(services)
        assert "mmap is slower, rejected" in told
        assert "mmap is slower, decision" not in told

    in_daemon(scenario)


def test_what_a_model_learned_an_agent_decided_is_told_and_what_a_tool_says_is_not() -> None:
    async def scenario(services: Services) -> None:
        where = await namespace(services)
        for number, (origin, strategy) in enumerate(
            [(Origin.ASSISTANT, MODEL_STRATEGY), (Origin.TOOL, MODEL_STRATEGY), (Origin.ASSISTANT, "test")], start=1
        ):
            await services.remember.put(
                attrs.evolve(
                    a_record(number, f"Decided {number}", namespace=where),
                    knowledge_type=KnowledgeType.DECISION,
                    origin=origin,
                    strategy=strategy,
                )
            )
        told = await start(services)
        assert [f"Decided {number}" in told for number in (1, 2, 3)] == [True, False, False]

    in_daemon(scenario)


def test_a_command_that_fails_here_is_told_with_the_one_that_works() -> None:
    async def scenario(services: Services) -> None:
        trap = a_record(1, "`rtk bun test` fails here: run `bun test`", namespace=await namespace(services))
        trap = attrs.evolve(trap, knowledge_type=KnowledgeType.HEURISTIC, origin=Origin.TOOL, strategy="extractive")
        await services.remember.put(trap)
        assert trap.title in await start(services)

    in_daemon(scenario)


def test_of_commands_that_fail_for_one_cause_the_shortest_is_told() -> None:
    async def scenario(services: Services) -> None:
        titles = [
            f"`{command}` fails here (unrecognized subcommand 'bun'): run `{command.removeprefix('rtk ')}`"
            for command in ("rtk bun run test -- --watch", "rtk bun run lint", "rtk bun run typecheck")
        ]
        other = "`rtk -C /srv status` fails here (unexpected argument '-C' found): run `rtk status`"
        for number, title in enumerate([*titles, other]):
            trap = a_record(number, title, namespace=await namespace(services))
            trap = attrs.evolve(trap, knowledge_type=KnowledgeType.HEURISTIC, origin=Origin.TOOL, strategy="extractive")
            await services.remember.put(trap)
        told = await start(services)
        assert [title in told for title in (*titles, other)] == [False, True, False, True]

    in_daemon(scenario)


@attrs.frozen
class Spooled:
    """A hook's request that was spooled while no daemon ran."""

    payload: bytes
    agent: str = "claude-code"
    headers: Mapping[str, str] = attrs.Factory(dict)


async def ask(services: Services, prompt: str, session: str = "s") -> str:
    return (await hook(services, "UserPromptSubmit", session_id=session, prompt=prompt)).context


def test_a_session_that_began_without_the_daemon_is_told_with_its_first_prompt() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Money", "Never use float for money")
        payload = {"hook_event_name": "SessionStart", "cwd": FOLDER, "session_id": "s", "source": "startup"}
        await services.hooks.take_all([Spooled(json.dumps(payload).encode())])
        assert (await ask(services, "go on")).count("Never use float for money") == 1
        assert await ask(services, "go on") == ""
        assert await start(services, source="resume") == ""

    in_daemon(scenario)


def test_a_brief_that_came_too_late_is_told_with_the_first_prompt() -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        await rule(services, "Money", "Never use float for money")
        storage.read_gate = trio.Event()
        assert await start(services) == ""
        storage.read_gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert "Never use float for money" in await ask(services, "go on")
        assert await ask(services, "and now the invoice") == ""

    in_daemon(scenario, storage=storage)


def test_a_session_whose_start_was_never_heard_of_is_told_nothing_late() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Money", "Never use float for money")
        assert await ask(services, "go on") == ""

    in_daemon(scenario)
