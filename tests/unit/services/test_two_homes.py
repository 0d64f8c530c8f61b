"""Two homes of one user are wired into the same files of agents: each is taken out without touching the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kiro_learn.services.installation import AGENT_TITLES
from kiro_learn.testing.agent_files import HOOK, USER, InMemoryAgentFiles, installation_of

MCP = ("/opt/bin/kiro-learn", "mcp")
DEFAULT: Mapping[str, Any] = {"mcp": MCP}
OTHER: Mapping[str, Any] = {
    "hook": "/srv/b/bin/hook",
    "mcp": MCP,
    "mcp_environment": {"KIRO_LEARN_HOME": "/srv/b"},
}
LONGER: Mapping[str, Any] = {
    "hook": "/mnt/srv/b/bin/hook",
    "mcp": MCP,
    "mcp_environment": {"KIRO_LEARN_HOME": "/mnt/srv/b"},
}
KIRO = str(USER / ".kiro")
THEIRS = {
    str(USER / ".claude/settings.json"): '{\n  "model": "opus"\n}\n',
    str(USER / ".claude.json"): '{"mcpServers": {"docs": {"command": "docs"}}}\n',
    str(USER / ".codex/config.toml"): 'model = "o3"\n',
    str(USER / ".cursor/mcp.json"): '{"mcpServers": {"docs": {"command": "docs"}}}\n',
    str(USER / ".gemini/settings.json"): '{"theme": "dark"}',
    f"{KIRO}/agents/mine.json": '{"name": "mine"}\n',
    f"{KIRO}/settings/mcp.json": '{"mcpServers": {"docs": {"command": "docs"}}}',
}


class Machine:
    """One user's files, and the manifests of several homes."""

    def __init__(self) -> None:
        self.files = InMemoryAgentFiles(dict(THEIRS))
        self._manifests: dict[str, str | None] = {}

    def install(self, home: Mapping[str, Any]) -> None:
        self._run(home, removes=False)

    def uninstall(self, home: Mapping[str, Any]) -> None:
        self._run(home, removes=True)

    def lose_manifest(self, home: Mapping[str, Any]) -> None:
        self._manifests.pop(_hook(home))

    def _run(self, home: Mapping[str, Any], *, removes: bool) -> None:
        self.files.kept_manifest = self._manifests.get(_hook(home))
        installation = installation_of(self.files, **home)
        plan = installation.plan_removal() if removes else installation.plan(tuple(AGENT_TITLES))
        assert (plan.problems, installation.carry_out(plan)) == ((), ())
        self._manifests[_hook(home)] = self.files.kept_manifest


def _hook(home: Mapping[str, Any]) -> str:
    return str(home.get("hook", HOOK))


@pytest.mark.parametrize(("first", "second"), [(DEFAULT, OTHER), (OTHER, DEFAULT), (OTHER, LONGER), (LONGER, OTHER)])
@pytest.mark.parametrize("has_manifest", [True, False])
def test_uninstalling_the_first_home_leaves_all_of_the_second(
    first: Mapping[str, Any], second: Mapping[str, Any], has_manifest: bool
) -> None:
    machine = Machine()
    machine.install(first)
    machine.install(second)
    before = dict(machine.files.texts)
    if not has_manifest:
        machine.lose_manifest(first)
    machine.uninstall(first)
    assert machine.files.texts == before


@pytest.mark.parametrize("order", [(DEFAULT, OTHER), (OTHER, DEFAULT)])
def test_after_both_are_uninstalled_nothing_of_either_is_left(order: tuple[Mapping[str, Any], ...]) -> None:
    machine = Machine()
    machine.install(DEFAULT)
    machine.install(OTHER)
    for home in order:
        machine.uninstall(home)
    assert machine.files.texts == THEIRS


@pytest.mark.parametrize("home", [DEFAULT, OTHER])
def test_without_a_manifest_our_servers_and_kiros_choice_of_our_agent_go_too(home: Mapping[str, Any]) -> None:
    machine = Machine()
    machine.install(home)
    machine.lose_manifest(home)
    machine.uninstall(home)
    assert machine.files.texts == THEIRS


def test_without_a_manifest_what_the_user_had_of_the_same_names_stays() -> None:
    machine = Machine()
    machine.install(DEFAULT)
    machine.lose_manifest(DEFAULT)
    settings = f"{KIRO}/settings/cli.json"
    machine.files.texts[settings] = '{"chat.defaultAgent": "mine"}'
    machine.uninstall(DEFAULT)
    assert machine.files.texts == {**THEIRS, settings: '{"chat.defaultAgent": "mine"}'}


@pytest.mark.parametrize("home", [DEFAULT, OTHER])
def test_a_home_that_was_moved_still_takes_out_what_it_put_in(home: Mapping[str, Any]) -> None:
    """Agents write their files anew, so that only what is recognised can be taken out."""
    machine = Machine()
    machine.install(home)
    for path, text in machine.files.texts.items():
        if path.endswith(".json") and "kiro-learn" in text and "/agents/" not in path:
            machine.files.texts[path] = json.dumps({**json.loads(text), "mine": 1})
    moved = {**OTHER, "hook": "/mnt/moved/bin/hook", "mcp_environment": {"KIRO_LEARN_HOME": "/mnt/moved"}}
    installation = installation_of(machine.files, **moved)
    assert installation.carry_out(installation.plan_removal()) == ()
    left = "".join(machine.files.texts.values())
    assert ("bin/hook" in left, '"kiro-learn"' in left, "[mcp_servers.kiro-learn]" in left) == (False, False, False)
