"""A plan lists the changes, its execution makes exactly these, and the manifest records them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

import attrs
import pytest

from kiro_learn.agent_files.layouts import manifest_text, read_manifest
from kiro_learn.errors import AgentFileError
from kiro_learn.services.installation import Installation
from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

CLAUDE = str(USER / ".claude/settings.json")
MCP = ("/opt/bin/kiro-learn", "mcp")


def install(files: InMemoryAgentFiles, *agents: str, **wishes: Any) -> Installation:
    installation = installation_of(files, **wishes)
    assert installation.carry_out(installation.plan(agents or tuple(AGENTS))) == ()
    return installation


def uninstall(files: InMemoryAgentFiles, *agents: str, **wishes: Any) -> None:
    installation = installation_of(files, **wishes)
    assert installation.carry_out(installation.plan_removal(agents or None)) == ()


def test_the_agents_that_are_there_are_found_in_one_order_with_their_versions() -> None:
    installation = installation_of(InMemoryAgentFiles(), {"cursor-agent": "", "kiro-cli": "2.4.0", "claude": "2.1"})
    found = [(agent.name, agent.version) for agent in installation.found()]
    assert found == [("kiro-cli", "2.4.0"), ("claude-code", "2.1"), ("cursor", "")]


def test_a_plan_touches_nothing() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}"})
    plan = installation_of(files).plan(tuple(AGENTS))
    assert len(plan.changes) > 5
    assert (files.texts, files.kept_manifest, files.folders) == ({CLAUDE: "{}"}, None, set())


def test_the_manifest_lists_each_file_with_its_hashes_and_what_was_added() -> None:
    files = InMemoryAgentFiles({CLAUDE: '{"hooks": {"Stop": []}}'})
    install(files, "claude-code", mcp=MCP)
    settings, servers = read_manifest(files.kept_manifest or "").files
    assert (settings.path, settings.agents) == (CLAUDE, ("claude-code",))
    assert settings.hash_before != settings.hash_after
    events = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreToolUse")
    assert settings.made == tuple(("hooks", event) for event in events)
    assert servers.hash_before is None
    assert [member.key for member in servers.added] == ["kiro-learn"]
    assert read_manifest(manifest_text(read_manifest(files.kept_manifest or ""))) == read_manifest(
        files.kept_manifest or ""
    )


def test_a_hook_that_was_pasted_by_hand_or_by_an_earlier_version_is_replaced() -> None:
    earlier = {
        "stop": [{"command": '"/home/ada/.kiro-learn/bin/shim" || true'}, {"command": "beep"}],
        "agentSpawn": [{"command": "~/.kiro-learn/bin/hook kiro-cli"}],
    }
    path = str(USER / ".kiro/agents/mine.json")
    files = InMemoryAgentFiles({path: json.dumps({"name": "mine", "hooks": earlier}, indent=2)})
    install(files, "kiro-cli")
    hooks = json.loads(files.texts[path])["hooks"]
    assert [hook["command"] for hook in hooks["stop"]] == ["beep", f"{HOOK} kiro-cli || true"]
    assert [hook["command"] for hook in hooks["agentSpawn"]] == [f"{HOOK} kiro-cli || true"]


@pytest.mark.parametrize(
    "command",
    [
        "/opt/tool/bin/hook claude-code",
        "/opt/lint --all /x/bin/hook claude-code || true",
        "bin/hook claude-code --fast",
        "cd app && bin/hook claude-code || true",
    ],
)
def test_a_hook_of_another_program_that_is_called_as_ours_is_stays(command: str) -> None:
    theirs = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    files = InMemoryAgentFiles({CLAUDE: theirs})
    installation = installation_of(files)
    plan = installation.plan(["claude-code"])
    assert plan.taken_from == ()
    assert installation.carry_out(plan) == ()
    assert command in files.texts[CLAUDE]
    uninstall(files)
    assert files.texts == {CLAUDE: theirs}


def test_another_home_takes_over_and_the_first_ones_uninstall_leaves_it() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}"})
    install(files, "claude-code")
    first = files.kept_manifest
    files.kept_manifest = None
    install(files, "claude-code", hook="/srv/home/bin/hook")
    assert HOOK not in files.texts[CLAUDE]
    files.kept_manifest = first
    uninstall(files)
    assert files.texts[CLAUDE].count("/srv/home/bin/hook") == 6


def test_a_home_with_signs_of_the_shell_in_its_path_is_recognised_by_another_one() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}"})
    install(files, "claude-code", hook="/srv/R&D; a home/bin/hook")
    files.kept_manifest = None
    install(files, "claude-code")
    assert "R&D" not in files.texts[CLAUDE]


def test_a_file_of_two_agents_goes_with_the_last_of_them() -> None:
    files = InMemoryAgentFiles()
    install(files, "kiro-cli", "kiro-ide")
    shared = str(USER / ".kiro/hooks/kiro-learn.json")
    uninstall(files, "kiro-cli")
    assert set(files.texts) == {shared}
    uninstall(files, "kiro-ide")
    assert (files.texts, files.folders, files.kept_manifest) == ({}, set(), None)


def test_the_users_own_compressor_and_default_agent_stay_theirs() -> None:
    compressor, settings = str(USER / ".kiro/agents/kiro-learn-compressor.json"), str(USER / ".kiro/settings/cli.json")
    theirs = {compressor: '{"model": "mine"}', settings: '{"chat.defaultAgent": "backend"}'}
    files = InMemoryAgentFiles(dict(theirs))
    install(files, "kiro-cli")
    assert {path: files.texts[path] for path in theirs} == theirs
    uninstall(files)
    assert files.texts == theirs


@pytest.mark.parametrize("has_manifest", [True, False])
def test_the_users_own_agent_of_our_name_stays_the_default_one(has_manifest: bool) -> None:
    agent, settings = str(USER / ".kiro/agents/kiro-learn.json"), str(USER / ".kiro/settings/cli.json")
    theirs = {agent: '{"name": "kiro-learn", "prompt": "mine"}', settings: '{"chat.defaultAgent": "kiro-learn"}'}
    files = InMemoryAgentFiles(dict(theirs))
    install(files, "kiro-cli")
    assert HOOK in files.texts[agent]
    files.kept_manifest = files.kept_manifest if has_manifest else None
    uninstall(files)
    assert files.texts[settings] == theirs[settings]
    assert json.loads(files.texts[agent])["prompt"] == "mine"
    assert HOOK not in files.texts[agent]


def test_our_agent_that_the_user_edited_keeps_the_edit_and_loses_the_hooks() -> None:
    path = str(USER / ".kiro/agents/kiro-learn.json")
    files = InMemoryAgentFiles()
    install(files, "kiro-cli")
    files.texts[path] = files.texts[path].replace("Kiro's own agent", "My own agent")
    install(files, "kiro-cli")
    uninstall(files)
    assert list(files.texts) == [path]
    assert "My own agent" in files.texts[path]
    assert HOOK not in files.texts[path]


def test_a_group_that_others_joined_keeps_them() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}"})
    install(files, "claude-code")
    document = json.loads(files.texts[CLAUDE])
    document["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "beep"})
    files.texts[CLAUDE] = json.dumps(document)
    uninstall(files)
    assert json.loads(files.texts[CLAUDE]) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}


def test_a_server_of_that_name_that_is_not_ours_is_left_and_told() -> None:
    path = str(USER / ".cursor/mcp.json")
    text = '{"mcpServers": {"kiro-learn": {"command": "somebody-elses"}}}'
    files = InMemoryAgentFiles({path: text})
    plan = installation_of(files, mcp=MCP).plan(("cursor",))
    [problem] = plan.problems
    assert (problem.path, problem.problem) == (path, 'it has another "kiro-learn" already')
    assert files.texts == {path: text}


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_is_told_of_the_mcp_server_once_there_is_one(agent: str) -> None:
    files = InMemoryAgentFiles()
    install(files, agent, mcp=MCP)
    assert sum("/opt/bin/kiro-learn" in text for text in files.texts.values()) == 1
    uninstall(files)
    assert files.texts == {}


def test_a_file_that_cannot_be_written_is_told_and_the_others_are() -> None:
    files = InMemoryAgentFiles(refused={str(USER / ".cursor/hooks.json")})
    installation = installation_of(files)
    [failed] = installation.carry_out(installation.plan(("cursor", "gemini")))
    assert failed.path == str(USER / ".cursor/hooks.json")
    assert list(files.texts) == [str(USER / ".gemini/settings.json")]
    assert [each.path for each in read_manifest(files.kept_manifest or "").files] == list(files.texts)


def test_a_crash_after_the_manifest_was_kept_leaves_nothing_to_undo() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{ }"})
    install(files, "claude-code")
    files.texts[CLAUDE] = "{ }"  # as if our entries had never been written
    uninstall(files)
    assert (files.texts, files.kept_manifest) == ({CLAUDE: "{ }"}, None)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2, "files": [], "folders": []}', '{"version": 1, "files": 3}']
)
def test_a_manifest_that_cannot_be_read_stops_everything(text: str) -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}"}, kept_manifest=text)
    with pytest.raises(AgentFileError, match=r"manifest\.json"):
        installation_of(files).plan(("claude-code",))


def test_a_projects_root_is_that_of_its_marker_and_never_the_users_folder() -> None:
    files = InMemoryAgentFiles({str(USER / "shop/.git"): "", str(USER / "shop/src/a.py"): ""})
    installation = installation_of(files)
    assert installation.project_root(USER / "shop/src") == USER / "shop"
    assert installation.project_root(USER) is None
    assert installation.project_root(PurePosixPath("/srv/x")) == PurePosixPath("/srv/x")
    assert installation.project_root(USER / "loose") == USER / "loose"


def test_folders_that_variables_moved_are_used() -> None:
    files = InMemoryAgentFiles()
    moved = {"CLAUDE_CONFIG_DIR": "/etc/claude", "CODEX_HOME": "/etc/codex", "KIRO_HOME": "relative"}
    install(files, "claude-code", "codex", "kiro-ide", environment=moved, mcp=MCP)
    assert set(files.texts) == {
        "/etc/claude/settings.json",
        "/etc/claude/.claude.json",
        "/etc/codex/hooks.json",
        "/etc/codex/config.toml",
        str(USER / ".kiro/hooks/kiro-learn.json"),
        str(USER / ".kiro/settings/mcp.json"),
    }


def test_the_server_of_a_home_of_its_own_is_told_which_one_it_serves() -> None:
    files = InMemoryAgentFiles()
    variables = {"KIRO_LEARN_HOME": "/srv/o\u2019brien \\ home"}
    install(files, "claude-code", "codex", mcp=MCP, mcp_environment=variables)
    servers = json.loads(files.texts[str(USER / ".claude.json")])["mcpServers"]
    assert servers["kiro-learn"]["env"] == variables
    tables = tomllib.loads(files.texts[str(USER / ".codex/config.toml")])
    assert tables["mcp_servers"]["kiro-learn"]["env"] == variables
    uninstall(files)
    assert files.texts == {}


def test_a_model_is_set_up_only_where_it_is_said_and_wanted() -> None:
    compressor = str(USER / ".kiro/agents/kiro-learn-compressor.json")
    installation = installation_of(InMemoryAgentFiles())
    assert installation.plan(("kiro-cli",)).sends_to_a_model
    assert not installation.plan(("kiro-cli",), has_compressor=False).sends_to_a_model
    assert not installation.plan(("claude-code", "kiro-ide")).sends_to_a_model
    files = InMemoryAgentFiles()
    install(files, "kiro-cli")
    assert compressor in files.texts
    assert not installation_of(files).plan(("kiro-cli",)).sends_to_a_model


def test_that_kiro_starts_with_our_agent_is_said_once_and_where_it_is_so() -> None:
    settings = str(USER / ".kiro/settings/cli.json")
    files, chosen = InMemoryAgentFiles(), InMemoryAgentFiles({settings: '{"chat.defaultAgent": "mine"}'})
    assert installation_of(files).plan(("kiro-cli",)).sets_default_agent
    assert not installation_of(files).plan(("kiro-cli",), sets_default_agent=False).sets_default_agent
    assert not installation_of(files).plan(("claude-code", "kiro-ide")).sets_default_agent
    assert not installation_of(chosen).plan(("kiro-cli",)).sets_default_agent
    install(files, "kiro-cli")
    assert not installation_of(files).plan(("kiro-cli",)).sets_default_agent
    assert not installation_of(files).plan_removal().sets_default_agent


def test_where_the_home_was_deleted_by_hand_what_is_recognised_is_taken_out() -> None:
    theirs = {CLAUDE: '{\n  "model": "opus"\n}\n', str(USER / ".codex/config.toml"): "[[hooks.Stop]]\nhooks = []\n"}
    files = InMemoryAgentFiles(dict(theirs))
    install(files)
    files.kept_manifest = None
    uninstall(files)
    left = {path for path in files.texts if HOOK in files.texts[path]}
    assert left == set()
    assert json.loads(files.texts[CLAUDE])["model"] == "opus"
    assert str(USER / ".kiro/agents/kiro-learn.json") not in files.texts
    assert str(USER / ".kiro/hooks/kiro-learn.json") not in files.texts


def test_hooks_that_kiro_migrated_into_a_file_of_its_own_go_too() -> None:
    migrated = str(USER / ".kiro/hooks/backend-migrated.json")
    others = {"name": "theirs", "trigger": "Stop", "action": {"type": "command", "command": "beep"}}
    files = InMemoryAgentFiles()
    install(files, "kiro-cli")
    ours = json.loads(files.texts[str(USER / ".kiro/hooks/kiro-learn.json")])["hooks"][0]
    files.texts[migrated] = json.dumps({"version": "v1", "hooks": [ours, others]})
    uninstall(files, "claude-code")
    assert HOOK in files.texts[migrated]
    uninstall(files)
    assert files.texts == {migrated: json.dumps({"version": "v1", "hooks": [others]}).replace("[{", "[ {")}


@pytest.mark.parametrize(("version", "count"), [("0.9.1", 3), ("1.0.138", 0), ("", 0)])
def test_an_ide_of_before_hook_files_gets_its_own(version: str, count: int) -> None:
    installation = installation_of(InMemoryAgentFiles(), {"kiro": version})
    plan = installation.plan(("kiro-ide",), project=USER / "shop")
    assert sum(step.path.name.endswith(".kiro.hook") for step in plan.changes) == count


STRANGE_HOMES = ["/home/o'brien", '/home/a"b', "/home/\u00fcnal", "/home/a\\b", "/home/a b", "/home/$x`y`"]


@pytest.mark.parametrize("home", STRANGE_HOMES)
@pytest.mark.parametrize("has_manifest", [True, False])
def test_our_hooks_are_known_again_whatever_characters_the_home_has(home: str, has_manifest: bool) -> None:
    """The path is quoted for a shell and written as JSON, and the agent may since have rewritten the file."""
    hook = f"{home}/.kiro-learn/bin/hook"
    files = InMemoryAgentFiles({CLAUDE: '{"model": "opus"}'})
    install(files, hook=hook)
    files.texts[CLAUDE] = json.dumps({**json.loads(files.texts[CLAUDE]), "theme": "dark"})
    files.kept_manifest = files.kept_manifest if has_manifest else None
    uninstall(files, hook=hook)
    assert "bin/hook" not in "".join(files.texts.values())
    assert json.loads(files.texts[CLAUDE])["theme"] == "dark"


def test_without_a_manifest_the_server_of_another_home_stays_beside_its_hooks() -> None:
    files = InMemoryAgentFiles()
    install(files, "gemini", hook="/srv/home/bin/hook", mcp=MCP, mcp_environment={"KIRO_LEARN_HOME": "/srv/home"})
    before, files.kept_manifest = dict(files.texts), None
    uninstall(files, mcp=MCP)
    assert files.texts == before


def test_a_name_that_stands_twice_in_a_file_costs_no_hook_of_others() -> None:
    def group(command: str) -> str:
        return json.dumps({"hooks": [{"type": "command", "command": command}]})

    ours = group(f"{HOOK} claude-code || true")
    files = InMemoryAgentFiles({CLAUDE: f'{{"hooks": {{"Stop": [{ours}], "Stop": [{group("beep")}]}}}}'})
    uninstall(files)
    assert HOOK not in files.texts[CLAUDE]
    assert "beep" in files.texts[CLAUDE]


@attrs.define
class LockedFiles(InMemoryAgentFiles):
    """Files whose manifest may be written only under its lock."""

    is_held: bool = False

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        self.is_held = True
        yield
        self.is_held = False

    def keep_manifest(self, text: str | None) -> None:
        assert self.is_held
        InMemoryAgentFiles.keep_manifest(self, text)


def test_the_manifest_is_changed_under_its_lock_so_that_two_installations_at_once_lose_nothing() -> None:
    files = LockedFiles()
    install(files, "codex")
    uninstall(files)
    assert not files.is_held


@attrs.define
class FullDisk(InMemoryAgentFiles):
    """Files on a disk without room for a second manifest."""

    def keep_manifest(self, text: str | None) -> None:
        if self.kept_manifest is not None:
            raise AgentFileError("manifest.json", "no space left on device")
        InMemoryAgentFiles.keep_manifest(self, text)


def test_files_that_were_written_are_told_where_the_last_manifest_finds_no_room() -> None:
    files = FullDisk(refused={str(USER / ".cursor/hooks.json")})
    installation = installation_of(files)
    failed = installation.carry_out(installation.plan(("cursor", "gemini")))
    assert [error.path for error in failed] == [str(USER / ".cursor/hooks.json"), "manifest.json"]
    settings = str(USER / ".gemini/settings.json")
    assert settings in files.texts
    assert settings in (files.kept_manifest or "")
