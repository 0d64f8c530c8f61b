"""A brief leaves out rules of the agent's own rule files; a memory that they contradict is shown with their line."""

from __future__ import annotations

import json
import re

import pytest
import trio

from kiro_learn.errors import InvalidRequest, NoConflict
from kiro_learn.learning.overruled import contradictions
from kiro_learn.model.observation import KnowledgeItem
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.services import conflicts
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import USER_HOME, FixedRuleTexts
from tests.unit.services.in_daemon import in_daemon

FOLDER = "/home/ada/shop"
RULES = ("Never push to main", "Answer in German")


async def rule(services: Services, title: str) -> None:
    item = KnowledgeItem(project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=title)
    await services.observe.add_knowledge(item)


async def start(services: Services, agent: str) -> str:
    payload = {"hook_event_name": "SessionStart", "cwd": FOLDER, "session_id": agent, "source": "startup"}
    return (await services.hooks.take(agent, json.dumps(payload).encode(), {}, retrieve=True)).context


class StuckTexts(FixedRuleTexts):
    """A file system that never answers."""

    async def read(self, folder: str | None, patterns: object) -> dict[str, str]:
        del folder, patterns
        await trio.sleep_forever()
        raise AssertionError


def test_a_brief_leaves_out_what_the_files_of_its_agent_say() -> None:
    async def scenario(services: Services) -> None:
        for title in RULES:
            await rule(services, title)
        told = {agent: await start(services, agent) for agent in ("claude-code", "codex", "gemini")}
        assert [RULES[0] in each for each in told.values()] == [False, True, True]
        assert [RULES[1] in each for each in told.values()] == [True, True, False]
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        assert RULES[0] in (await services.session_context.context(namespace, folder=None)).text
        loaded = await services.session_context.rule_files.loaded_by("claude-code", FOLDER)
        previewed = await services.session_context.context(namespace, folder=FOLDER, loaded=loaded)
        assert previewed.text == told["claude-code"]

    files = {FOLDER: {"CLAUDE.md": "- Never push to main\n"}, USER_HOME: {".gemini/GEMINI.md": "Answer in German.\n"}}
    in_daemon(scenario, rule_texts=FixedRuleTexts(files))


def test_a_changed_file_is_told_from_again() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, RULES[0])
        assert RULES[0] not in await start(services, "claude-code")
        texts.folders[FOLDER] = {"CLAUDE.md": "Be kind.\n"}
        payload = {"hook_event_name": "SessionStart", "cwd": FOLDER, "session_id": "t"}
        answered = await services.hooks.take("claude-code", json.dumps(payload).encode(), {}, retrieve=True)
        assert RULES[0] in answered.context

    texts = FixedRuleTexts({FOLDER: {"CLAUDE.md": "- Never push to main\n"}})
    in_daemon(scenario, rule_texts=texts)


def test_a_file_system_that_does_not_answer_costs_no_brief() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, RULES[0])
        assert RULES[0] in await start(services, "claude-code")
        assert await services.session_context.rule_files.conflicts() == ()

    in_daemon(scenario, rule_texts=StuckTexts())


def test_a_contradiction_is_shown_with_its_file_and_line_whichever_agent_loads_it() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Use bun, never npm")
        await rule(services, "Always answer in German")
        shown = {(each.path, each.line, each.title) for each in await services.session_context.rule_files.conflicts()}
        assert shown == {
            (f"{FOLDER}/.github/copilot-instructions.md", 3, "Use bun, never npm"),
            ("~/.claude/CLAUDE.md", 1, "Always answer in German"),
        }

    texts = {
        FOLDER: {".github/copilot-instructions.md": "# Shop\n\nUse npm to install.\n"},
        USER_HOME: {".claude/CLAUDE.md": "Never answer in German.\n"},
    }
    in_daemon(scenario, rule_texts=FixedRuleTexts(texts))


def test_keeping_a_line_forgets_the_rule_and_a_line_is_not_ended_for_a_rule() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Use bun, never npm")
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        [(_, (memory, line))] = await services.conflicts.list([namespace])
        assert (line.id, line.text, line.source) == (f"{FOLDER}/CLAUDE.md:1", "Use npm to install.", "file")
        with pytest.raises(InvalidRequest, match="expected a fact or a memory"):
            await services.conflicts.settle(namespace, memory.id, line.id)
        await services.conflicts.settle(namespace, line.id, memory.id)
        assert await services.conflicts.list([namespace]) == []
        with pytest.raises(NoConflict, match=f"{re.escape(line.id)} and {memory.id} do not contradict each other"):
            await services.conflicts.settle(namespace, line.id, memory.id)

    in_daemon(scenario, rule_texts=FixedRuleTexts({FOLDER: {"CLAUDE.md": "Use npm to install.\n"}}))


def test_rules_are_compared_again_only_once_they_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def compare(rules: list[MemoryRecord]) -> list[tuple[MemoryRecord, MemoryRecord]]:
        compared.append(len(rules))
        return [*contradictions(rules)]

    monkeypatch.setattr(conflicts, "contradictions", compare)

    async def scenario(services: Services) -> None:
        await rule(services, "Always use pnpm install")
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        assert await services.conflicts.list([namespace]) == []
        assert await services.conflicts.list([namespace]) == []
        await rule(services, "Never use pnpm install")
        for _ in range(2):
            [(_, (one, other))] = await services.conflicts.list([namespace])
            assert {one.text, other.text} == {"Always use pnpm install", "Never use pnpm install"}
        assert compared == [1, 2]

    in_daemon(scenario)


def test_two_rules_that_cannot_be_ordered_are_shown_and_the_brief_names_both_with_their_days() -> None:
    async def scenario(services: Services) -> None:
        await rule(services, "Always indent YAML files with 2 spaces")
        await rule(services, "Always indent YAML files with 4 spaces")
        [found] = await services.session_context.rule_files.conflicts()
        assert {found.title, found.text} == {f"Always indent YAML files with {count} spaces" for count in (2, 4)}
        assert found.settled_by == f"kiro-learn conflicts keep {found.record_id} --over {found.other_id}"
        told = await start(services, "claude-code")
        assert f"- {found.text} (2026-01-05)\n" in told
        assert f'- {found.title} (2026-01-05; contradicts "{found.text}", 2026-01-05: ask which holds)\n' in told
        namespace = (await services.project_names.resolve(FOLDER)).namespace
        assert found.other_id is not None
        await services.conflicts.settle(namespace, found.record_id, found.other_id)
        assert await services.session_context.rule_files.conflicts() == ()
        assert "contradicts" not in await start(services, "codex")

    in_daemon(scenario, rule_texts=FixedRuleTexts({}))
