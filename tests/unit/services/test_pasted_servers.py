"""An entry that the user made for our server is replaced while we are installed, and restored afterwards."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from kiro_learn.services.installation_plan import Plan
from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

MCP = ("/opt/bin/kiro-learn", "mcp")
CODEX = str(USER / ".codex/config.toml")
FILES = {
    "kiro-cli": str(USER / ".kiro/settings/mcp.json"),
    "kiro-ide": str(USER / ".kiro/settings/mcp.json"),
    "claude-code": str(USER / ".claude.json"),
    "codex": CODEX,
    "gemini": str(USER / ".gemini/settings.json"),
    "cursor": str(USER / ".cursor/mcp.json"),
}
SERVERS: list[Mapping[str, Any]] = [
    {"command": "kiro-learn", "args": ["mcp"]},
    {"type": "stdio", "command": "kiro-learn", "args": ["mcp"], "env": {"KIRO_LEARN_PROJECT": "/srv/shop"}},
    {"command": "/usr/local/bin/kiro-learn", "args": ["mcp", "--project", "/srv/shop"]},
    {"command": "uv", "args": ["run", "kiro-learn", "mcp"]},
    {"command": "python3", "args": ["-m", "kiro_learn", "mcp"], "disabled": False},
]
WITH_VARIABLES = """\
[mcp_servers.kiro-learn]
command = "uvx"
args = ["kiro-learn", "mcp"]
[mcp_servers.kiro-learn.env]
KIRO_LEARN_PROJECT = "/srv/shop\""""
TABLES = [
    '[mcp_servers.kiro-learn]\ncommand = "kiro-learn"\nargs = ["mcp"]\n',
    '[mcp_servers."kiro-learn"]\r\nargs = [\r\n  "mcp", # ours\r\n]\r\ncommand = \'kiro-learn\'\r\n',
    WITH_VARIABLES,
]
AROUND = [
    ("", ""),
    ('model = "o3"\n\n', '\n\n# my docs\n[mcp_servers.docs]\ncommand = "d"\n'),
    ("[mcp_servers]\n", "\n#"),
]


def carry_out(files: InMemoryAgentFiles, *agents: str, removes: bool = False) -> Plan:
    installation = installation_of(files, mcp=MCP)
    plan = installation.plan_removal() if removes else installation.plan(agents)
    assert (plan.problems, installation.carry_out(plan)) == ((), ())
    return plan


def document(server: Mapping[str, Any], indent: int | None) -> str:
    return json.dumps({"a": 1, "mcpServers": {"kiro-learn": server, "docs": {"command": "d"}}}, indent=indent)


def test_where_each_agent_keeps_its_servers_is_known_here() -> None:
    assert [*FILES] == [*AGENTS], "add the new agent's file of MCP servers to FILES"


@pytest.mark.parametrize("agent", [agent for agent in FILES if agent != "codex"])
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("indent", [None, 2, 4])
def test_a_pasted_server_is_taken_over_and_given_back(
    agent: str, server: Mapping[str, Any], indent: int | None
) -> None:
    path, text = FILES[agent], document(server, indent)
    files = InMemoryAgentFiles({path: text})
    for _ in range(2):
        carry_out(files, agent)
        taken_over = json.loads(files.texts[path])["mcpServers"]
        assert (taken_over["kiro-learn"]["command"], list(taken_over)) == (MCP[0], ["kiro-learn", "docs"])
    carry_out(files, removes=True)
    assert files.texts == {path: text}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("around", AROUND)
def test_a_pasted_table_is_given_back(table: str, around: tuple[str, str]) -> None:
    text = table.join(around)
    files = InMemoryAgentFiles({CODEX: text})
    for _ in range(2):
        carry_out(files, "codex")
        assert tomllib.loads(files.texts[CODEX])["mcp_servers"]["kiro-learn"] == {"command": MCP[0], "args": ["mcp"]}
        assert "# my docs" in files.texts[CODEX] or "# my docs" not in text
    carry_out(files, removes=True)
    assert files.texts == {CODEX: text}


def test_it_is_given_back_also_where_the_agent_wrote_its_file_anew() -> None:
    path, pasted = FILES["claude-code"], SERVERS[1]
    files = InMemoryAgentFiles({path: document(pasted, 3)})
    carry_out(files, "claude-code")
    files.texts[path] = json.dumps({**json.loads(files.texts[path]), "startups": 7})
    carry_out(files, "claude-code")
    files.texts[path] = json.dumps({**json.loads(files.texts[path]), "startups": 8}, indent=1)
    carry_out(files, removes=True)
    assert json.loads(files.texts[path]) == {**json.loads(document(pasted, 3)), "startups": 8}


def test_it_is_given_back_also_where_the_agent_put_a_table_beside_it() -> None:
    files = InMemoryAgentFiles({CODEX: TABLES[0]})
    carry_out(files, "codex")
    files.texts[CODEX] = files.texts[CODEX].replace("# kiro-learn: end", "[projects.a]\nx = 1\n# kiro-learn: end")
    carry_out(files, removes=True)
    assert tomllib.loads(files.texts[CODEX]) == {**tomllib.loads(TABLES[0]), "projects": {"a": {"x": 1}}}


def test_one_that_the_user_removed_meanwhile_is_not_given_back() -> None:
    path = FILES["cursor"]
    files = InMemoryAgentFiles({path: document(SERVERS[0], 2)})
    carry_out(files, "cursor")
    files.texts[path] = '{"mcpServers": {}}'
    carry_out(files, removes=True)
    assert files.texts == {path: '{"mcpServers": {}}'}


@pytest.mark.parametrize("agent", FILES)
def test_what_was_given_back_stays_if_nothing_is_installed(agent: str) -> None:
    path = FILES[agent]
    text = TABLES[0] if agent == "codex" else document(SERVERS[0], None)
    files = InMemoryAgentFiles({path: text})
    carry_out(files, agent)
    carry_out(files, removes=True)
    assert carry_out(files, removes=True).changes == ()
    assert files.texts == {path: text}


def marks_stripped(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("# kiro-learn"))


INLINE = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "beep"\n'


@pytest.mark.parametrize("has_manifest", [True, False])
@pytest.mark.parametrize("text", ['model = "o3"\n', INLINE, f"# mine\n{INLINE}[features]\nx = true\n"])
def test_tables_whose_comments_a_formatter_took_out_are_found_by_their_commands(text: str, has_manifest: bool) -> None:
    files = InMemoryAgentFiles({CODEX: text})
    carry_out(files, "codex")
    once = dict(files.texts)
    files.texts[CODEX] = marks_stripped(once[CODEX])
    assert files.texts != once
    carry_out(files, "codex")
    assert files.texts == once
    files.texts[CODEX] = marks_stripped(once[CODEX])
    files.kept_manifest = files.kept_manifest if has_manifest else None
    carry_out(files, removes=True)
    assert files.texts == {CODEX: text}


def test_a_hook_of_ours_among_those_of_others_is_taken_out_alone() -> None:
    ours = f'[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "{HOOK} codex || true"\n'
    files = InMemoryAgentFiles({CODEX: f"{INLINE}{ours}"})
    carry_out(files, removes=True)
    assert files.texts == {CODEX: INLINE}


def test_what_cannot_be_told_from_the_rest_is_named_with_its_line() -> None:
    text = f'model = "o3"\nhooks = {{ Stop = [{{ hooks = [{{ command = "{HOOK} codex || true" }}] }}] }}\n'
    files = InMemoryAgentFiles({CODEX: text})
    [problem] = installation_of(files, mcp=MCP).plan_removal().problems
    assert (problem.path, problem.line) == (CODEX, 2)
    assert problem.problem == "kiro-learn's entry is written in a way that it cannot be taken out"


def test_what_only_looks_like_a_table_is_kept() -> None:
    text = f'note = """\n[mcp_servers.kiro-learn]\ncommand = "{MCP[0]}"\nargs = ["mcp"]\n"""\n'
    files = InMemoryAgentFiles({CODEX: text})
    carry_out(files, "codex")
    carry_out(files, removes=True)
    carry_out(files, removes=True)
    assert files.texts == {CODEX: text}
