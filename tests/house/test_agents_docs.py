"""An agent that can be installed into stands in every list of the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kiro_learn.wire.agents import AGENTS, Agent

DOCS = Path(__file__).parents[2] / "docs"
every_agent = pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))


def rows(document: str, heading: str) -> list[list[str]]:
    """The cells of each row below ``heading``."""
    text = (DOCS / document).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


@every_agent
def test_its_hooks_are_told_by_what_becomes_of_them(agent: Agent) -> None:
    [row] = [row for row in rows("hooks.md", "What becomes of it") if f"`{agent.name}`" in row[0]]
    assert {*re.findall(r"\w+", " ".join(row[1:]).lower())} == {*agent.hooks}


@every_agent
def test_its_form_of_the_answer_is_told(agent: Agent) -> None:
    found = [row for row in rows("hooks.md", "What each agent takes") if row[0].startswith(agent.title)]
    assert found
    if agent.answer.most is not None:
        assert all(row[2].startswith(f"{agent.answer.most:,} ") for row in found)


@every_agent
def test_its_files_are_told(agent: Agent) -> None:
    assert [row for row in rows("hooks.md", "What install writes") if f"`{agent.name}`" in row[0]]
    assert not agent.moved_by or f"`{agent.moved_by}`" in (DOCS / "hooks.md").read_text(encoding="utf-8")
    assert [row for row in rows("mcp.md", "Configuration") if agent.title in row[0]]


@every_agent
def test_the_command_line_s_page_names_it(agent: Agent) -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    listed = text.split("`kiro-learn install [AGENT...]`")[1].split(". ")[0]
    assert f"`{agent.name}`" in listed
