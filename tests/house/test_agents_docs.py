"""Each agent that can be installed into is in every list of the documents and tests; a failure names the file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kiro_learn.wire.agent import Agent
from kiro_learn.wire.agents import AGENTS

ROOT = Path(__file__).parents[2]
VIEWER_NAMES = "kiro_learn/frontends/viewer/files/lib/format.js"
MACHINES = "tests/integration/agents"
every_agent = pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def rows(document: str, heading: str) -> list[list[str]]:
    """The cells of each row below ``heading``."""
    text = re.split(rf"\n##+ {re.escape(heading)}\n", text_of(document))[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


@every_agent
def test_its_hooks_are_told_by_what_becomes_of_them(agent: Agent) -> None:
    place = 'docs/hooks.md, "What becomes of it"'
    found = [row for row in rows("docs/hooks.md", "What becomes of it") if f"`{agent.name}`" in row[0]]
    assert len(found) == 1, f"{place}: add a row of `{agent.name}` with its hooks"
    told = {*re.findall(r"\w+", " ".join(found[0][1:]).lower())}
    assert told == {*agent.hooks}, f"{place}: the row of `{agent.name}` does not have the hooks of its value"


@every_agent
def test_its_form_of_the_answer_is_told(agent: Agent) -> None:
    place = 'docs/hooks.md, "What each agent takes"'
    found = [row for row in rows("docs/hooks.md", "What each agent takes") if row[0].startswith(agent.title)]
    assert found, f"{place}: add a row of {agent.title}"
    is_told = agent.answer.most is None or all(row[2].startswith(f"{agent.answer.most:,} ") for row in found)
    assert is_told, f"{place}: {agent.title} takes {agent.answer.most}"


@every_agent
def test_its_files_are_told(agent: Agent) -> None:
    written = [row for row in rows("docs/hooks.md", "What install writes") if f"`{agent.name}`" in row[0]]
    assert written, f'docs/hooks.md, "What install writes": add the files of `{agent.name}`'
    is_told = not agent.moved_by or f"`{agent.moved_by}`" in text_of("docs/hooks.md")
    assert is_told, (
        f'docs/hooks.md, "What install writes": say that `{agent.moved_by}` moves the folder of {agent.title}'
    )
    servers = [row for row in rows("docs/mcp.md", "Configuration") if agent.title in row[0]]
    assert servers, f'docs/mcp.md, "Configuration": add where {agent.title} keeps its MCP servers'


@every_agent
def test_its_rule_files_are_told(agent: Agent) -> None:
    heading = "What the agent's own rule files say"
    found = [row for row in rows("docs/search.md", heading) if agent.title.startswith(row[0])]
    missing = [each for each in agent.rule_files if not any(f"`{each}`" in row[1] for row in found)]
    missing += [f"~/{each}" for each in agent.user_rule_files if not any(f"`~/{each}`" in row[2] for row in found)]
    assert not missing, f'docs/search.md, "{heading}": {agent.title} loads {", ".join(missing)} too'


@every_agent
def test_the_first_pages_name_it(agent: Agent) -> None:
    listed = text_of("docs/cli.md").split("`kiro-learn install [AGENT...]`")[1].split(". ")[0]
    assert f"`{agent.name}`" in listed, f"docs/cli.md: name `{agent.name}` at `kiro-learn install [AGENT...]`"
    [line] = [line for line in text_of("README.md").splitlines() if line.startswith("kiro-learn init ")]
    words = (agent.title, f"{agent.title.split()[0]} CLI and {agent.title.split()[-1]}")
    assert any(each in line for each in words), f"README.md: {agent.title} is connected by `kiro-learn init` too"
    for screen in re.findall(r"^Found +.*?\n\n", text_of("docs/start.md"), flags=re.DOTALL | re.MULTILINE):
        assert agent.title in screen, f"docs/start.md: {agent.title} is found, or not, on each screen of `init`"


@every_agent
def test_the_viewer_has_a_name_for_it(agent: Agent) -> None:
    listed = text_of(VIEWER_NAMES).split("export const AGENTS")[1].split("});")[0]
    assert re.search(rf'["\s]{agent.name}"?: ', listed), f"{VIEWER_NAMES}: give `{agent.name}` a name in AGENTS"


@every_agent
def test_it_has_payloads_and_a_home_to_be_tested_with(agent: Agent) -> None:
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / MACHINES / "fixtures").glob("*.json")]
    is_recorded = any(each["agent"] == agent.name for each in recorded)
    assert is_recorded, (
        f"{MACHINES}/fixtures: record what {agent.title} sends, and add a case to CASES of test_agents.py"
    )
    assert (ROOT / MACHINES / "homes" / agent.name).is_dir(), f"{MACHINES}/homes: add files as {agent.title} has them"
