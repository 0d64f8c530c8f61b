"""Two homes of one user are installed in the same files of agents; each can be uninstalled without the other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pytest

from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

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
    """One user's files, and several homes, each with a manifest in its folder."""

    def __init__(self, theirs: Mapping[str, str] = THEIRS) -> None:
        self.files = InMemoryAgentFiles(dict(theirs))
        self._manifests: dict[str, str] = {}

    def install(self, home: Mapping[str, Any]) -> None:
        self._run(home, removes=False)

    def uninstall(self, home: Mapping[str, Any]) -> None:
        self._run(home, removes=True)

    def lose_manifest(self, home: Mapping[str, Any]) -> None:
        self._manifests.pop(_manifest(home))

    def _run(self, home: Mapping[str, Any], *, removes: bool) -> None:
        self.files.kept_manifest = self._manifests.pop(_manifest(home), None)
        self.files.texts |= self._manifests
        installation = installation_of(self.files, **home)
        plan = installation.plan_removal() if removes else installation.plan(tuple(AGENTS))
        assert (plan.problems, installation.carry_out(plan)) == ((), ())
        for path in self._manifests:
            del self.files.texts[path]
        if self.files.kept_manifest is not None:
            self._manifests[_manifest(home)] = self.files.kept_manifest


def _manifest(home: Mapping[str, Any]) -> str:
    return str(PurePosixPath(home.get("hook", HOOK)).parent.parent / "manifest.json")


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


ORDERS = [(DEFAULT, OTHER), (OTHER, DEFAULT)]
AWKWARD = {
    str(USER / ".claude/settings.json"): '{"hooks": { }, "model":"opus",}',
    str(USER / ".claude.json"): "{\n}",
    str(USER / ".codex/hooks.json"): '{"hooks": {"Stop": [\n]}}\n\n',
    str(USER / ".codex/config.toml"): "",
    str(USER / ".cursor/hooks.json"): '{"version": 1, "hooks": {}}',
    str(USER / ".cursor/mcp.json"): "{}",
    str(USER / ".gemini/settings.json"): "\n",
    f"{KIRO}/agents/kiro-learn.json": '{"name": "kiro-learn", "hooks": {"stop": []}}',
    f"{KIRO}/agents/mine.json": "{ // nothing yet\n}",
    f"{KIRO}/hooks/kiro-learn.json": '{"version": "v1"}',
    f"{KIRO}/settings/cli.json": "{ }",
    f"{KIRO}/settings/mcp.json": '{"mcpServers":{}}',
}
INLINE = {str(USER / ".codex/config.toml"): "# mine\r\n[[hooks.Stop]]\r\nhooks = []"}

SERVERS = '{"mcpServers": {"kiro-learn": {"command": "kiro-learn", "args": ["mcp"]}, "docs": {}}}'
PASTED = {
    str(USER / ".claude.json"): SERVERS,
    str(USER / ".codex/config.toml"): '[mcp_servers.kiro-learn]\ncommand = "kiro-learn"\nargs = ["mcp"]\n\n# end',
    str(USER / ".cursor/mcp.json"): SERVERS,
    str(USER / ".gemini/settings.json"): SERVERS,
    f"{KIRO}/settings/mcp.json": SERVERS,
}


@pytest.mark.parametrize(
    "theirs", [{}, THEIRS, AWKWARD, INLINE, PASTED], ids=["none", "plain", "awkward", "inline", "pasted"]
)
@pytest.mark.parametrize("removals", ORDERS)
@pytest.mark.parametrize("installations", [*ORDERS, (DEFAULT, OTHER, DEFAULT), (LONGER, DEFAULT, OTHER)])
def test_after_both_are_uninstalled_every_file_is_as_it_was(
    installations: Sequence[Mapping[str, Any]], removals: Sequence[Mapping[str, Any]], theirs: Mapping[str, str]
) -> None:
    machine = Machine(theirs)
    for home in installations:
        machine.install(home)
    for home in removals:
        machine.uninstall(home)
    assert (machine.files.texts, machine.files.folders) == (theirs, set())


EDITS: Mapping[str, tuple[str, str]] = {
    str(USER / ".claude/settings.json"): ('"opus"', '"sonnet"'),
    str(USER / ".claude.json"): ('"command": "docs"', '"command": "docs", "args": []'),
    str(USER / ".codex/config.toml"): ('model = "o3"', '# newer\nmodel = "o4"'),
    str(USER / ".cursor/mcp.json"): ('{"mcpServers"', '{"a": 1, "mcpServers"'),
    str(USER / ".gemini/settings.json"): ('{"theme": "dark"', '  {"theme": "light"'),
    f"{KIRO}/agents/mine.json": ('{"name": "mine"', '{"name": "mine", "tools": ["*"]'),
    f"{KIRO}/settings/mcp.json": ('"docs": {', '"more": {}, "docs": {'),
}


def edit(texts: dict[str, str]) -> None:
    for path, (before, after) in EDITS.items():
        assert before in texts[path]
        texts[path] = texts[path].replace(before, after, 1)


@pytest.mark.parametrize("removals", ORDERS)
@pytest.mark.parametrize("edited_after", [0, 1, 2])
def test_what_the_user_changed_in_between_stays_and_all_else_is_as_it_was(
    removals: Sequence[Mapping[str, Any]], edited_after: int
) -> None:
    machine = Machine()
    for number, act in enumerate((machine.install, machine.install, machine.uninstall)):
        act((DEFAULT, OTHER, removals[0])[number])
        if number == edited_after:
            edit(machine.files.texts)
    machine.uninstall(removals[1])
    wanted = dict(THEIRS)
    edit(wanted)
    assert machine.files.texts == wanted


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
    """Agents rewrite their files, so only entries that are recognised can be removed."""
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
