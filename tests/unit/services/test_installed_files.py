"""A file that is gone or lost our entries is reported with the command to repair it; other changes are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kiro_learn.services.doctor import CheckState, Examination, Outcome
from kiro_learn.services.doctor_checks import agents_are_connected
from kiro_learn.testing.machine import USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

CLAUDE = str(USER / ".claude/settings.json")
CODEX = str(USER / ".codex/config.toml")
CURSOR = str(USER / ".cursor/hooks.json")
KIRO_AGENT = str(USER / ".kiro/agents/mine.json")
COMPRESSOR = str(USER / ".kiro/agents/kiro-learn-compressor.json")
DEFAULT_AGENT = str(USER / ".kiro/settings/cli.json")
SHOP = USER / "shop"
MCP = ("/opt/bin/kiro-learn", "mcp")
ALL_HERE = {program: "1.0" for agent in AGENTS.values() for program in agent.programs}


def install(files: InMemoryAgentFiles, *agents: str, **wishes: Any) -> None:
    installation = installation_of(files, mcp=MCP)
    assert installation.carry_out(installation.plan(agents or tuple(AGENTS), **wishes)) == ()


def look(files: InMemoryAgentFiles, **wishes: Any) -> Outcome:
    inspection = installation_of(files, **{"programs": ALL_HERE, "mcp": MCP, **wishes}).inspection
    home = SimpleNamespace(path=USER / ".kiro-learn")
    return agents_are_connected(cast("Examination", SimpleNamespace(agent_files=inspection, home=home)))


def written_count(files: InMemoryAgentFiles) -> int:
    return len(json.loads(files.kept_manifest or "{}")["files"])


def edit(files: InMemoryAgentFiles, path: str, change: Callable[[Any], None]) -> None:
    document = json.loads(files.texts[path])
    change(document)
    files.texts[path] = json.dumps(document)


def test_without_an_installation_there_is_nothing_to_look_at() -> None:
    assert look(InMemoryAgentFiles()).state is CheckState.SKIPPED


def test_files_that_are_as_they_were_left_are_well() -> None:
    files = InMemoryAgentFiles({CLAUDE: "{}", CODEX: "model = 'o3'\n", KIRO_AGENT: '{"name": "mine"}'})
    install(files)
    install(files, project=SHOP)
    found = look(files)
    assert found == Outcome(CheckState.OK, f"what was installed is in place, in {written_count(files)} files")


def test_a_file_that_only_changed_is_well_however_much_it_did() -> None:
    files = InMemoryAgentFiles({CLAUDE: '{"model": "opus"}', CODEX: "model = 'o3'\n"})
    install(files, "claude-code", "codex", "kiro-cli")

    def rewrite(document: Any) -> None:
        document["model"] = "sonnet"
        document["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "beep"}]})
        document["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "lint"})

    edit(files, CLAUDE, rewrite)
    edit(files, COMPRESSOR, lambda document: document.update(model="another"))
    files.texts[CODEX] = "# kept in order\n" + files.texts[CODEX].replace("# kiro-learn: begin", "# begin")
    assert look(files).state is CheckState.OK


@pytest.mark.parametrize(
    ("path", "agents"),
    [(CLAUDE, "claude-code"), (CURSOR, "cursor"), (CODEX, "codex"), (COMPRESSOR, "kiro-cli")],
)
def test_a_file_that_is_gone_is_told_with_its_installation(path: str, agents: str) -> None:
    files = InMemoryAgentFiles()
    install(files)
    del files.texts[path]
    assert look(files) == Outcome(CheckState.FAILED, f"{path}: it is gone", f"kiro-learn install {agents}")
    install(files, agents)
    assert look(files).state is CheckState.OK


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (lambda hooks: hooks.pop("Stop"), "it lacks 1 of kiro-learn's 6 entries"),
        (lambda hooks: hooks["Stop"][0]["hooks"].clear(), "it lacks 1 of kiro-learn's 6 entries"),
        (lambda hooks: hooks.clear(), "it lacks all of kiro-learn's 6 entries"),
        (
            lambda hooks: hooks["Stop"][0]["hooks"][0].update(command="/old/home/bin/hook claude-code || true"),
            "it lacks 1 of kiro-learn's 6 entries",
        ),
    ],
)
def test_entries_that_are_gone_are_counted(lost: Callable[[Any], None], told: str) -> None:
    files = InMemoryAgentFiles({CLAUDE: '{"model": "opus"}'})
    install(files, "claude-code")
    edit(files, CLAUDE, lambda document: lost(document["hooks"]))
    assert look(files) == Outcome(CheckState.FAILED, f"{CLAUDE}: {told}", "kiro-learn install claude-code")
    install(files, "claude-code")
    assert look(files).state is CheckState.OK


def test_a_server_and_a_setting_that_are_gone_are_told() -> None:
    files = InMemoryAgentFiles({CODEX: "model = 'o3'\n"})
    install(files, "codex", "claude-code", "kiro-cli")
    edit(files, str(USER / ".claude.json"), lambda document: document["mcpServers"].clear())
    edit(files, DEFAULT_AGENT, lambda document: document.clear())
    files.texts[CODEX] = "model = 'o3'\n"
    found = look(files)
    assert found.detail.count("it lacks kiro-learn's entry") == 2
    assert found.detail.endswith(f"{CODEX}: it lacks kiro-learn's tables, or they were changed")
    assert found.mend == "kiro-learn install kiro-cli claude-code codex"


def test_another_default_agent_is_the_choice_of_the_user() -> None:
    files = InMemoryAgentFiles()
    install(files, "kiro-cli")
    edit(files, DEFAULT_AGENT, lambda document: document.update({"chat.defaultAgent": "mine"}))
    assert look(files).state is CheckState.OK


def test_the_mending_command_installs_no_more_than_there_was() -> None:
    files = InMemoryAgentFiles()
    install(files, "kiro-cli", has_compressor=False, sets_default_agent=False)
    assert look(files).state is CheckState.OK
    del files.texts[str(USER / ".kiro/hooks/kiro-learn.json")]
    assert look(files).mend == "kiro-learn install kiro-cli --no-compressor --no-set-default"


def test_an_agent_of_the_user_that_the_user_removed_is_not_missed() -> None:
    files = InMemoryAgentFiles({KIRO_AGENT: '{"name": "mine"}'})
    install(files, "kiro-cli")
    del files.texts[KIRO_AGENT]
    assert look(files).state is CheckState.OK


def test_a_file_that_agents_cannot_read_is_named_with_its_place() -> None:
    files = InMemoryAgentFiles({CLAUDE: '{"model": "opus"}'})
    install(files, "claude-code")
    files.texts[CLAUDE] += "\n{"
    found = look(files)
    assert (found.state, found.detail.startswith(f"{CLAUDE}: line ")) == (CheckState.FAILED, True)
    assert found.mend == f'"${{EDITOR:-vi}}" {CLAUDE} && kiro-learn install claude-code'


def test_a_project_is_mended_in_its_folder() -> None:
    files = InMemoryAgentFiles({str(SHOP / ".git/HEAD"): "ref: main"})
    install(files, "gemini", "claude-code")
    install(files, "gemini", "claude-code", project=SHOP)
    del files.texts[str(SHOP / ".gemini/settings.json")]
    del files.texts[str(SHOP / ".mcp.json")]
    found = look(files)
    assert str(SHOP / ".gemini/settings.json") in found.detail
    assert found.mend == f"(cd {SHOP} && kiro-learn install claude-code gemini --project)"


def test_a_project_that_is_gone_is_not_missed() -> None:
    files = InMemoryAgentFiles()
    install(files, "gemini", project=SHOP)
    files.texts.clear()
    files.folders.clear()
    assert look(files).state is CheckState.OK


def test_an_agent_that_left_the_machine_is_to_be_uninstalled() -> None:
    files = InMemoryAgentFiles()
    install(files, "cursor")
    for path in [path for path in files.texts if "/.cursor/" in path]:
        del files.texts[path]
    assert look(files, programs={}).mend == "kiro-learn uninstall cursor"
    assert look(files).mend == "kiro-learn install cursor"


def test_a_folder_that_a_variable_moved_is_the_users() -> None:
    files = InMemoryAgentFiles()
    moved = {"CODEX_HOME": "/data/.codex"}
    installation = installation_of(files, environment=moved)
    installation.carry_out(installation.plan(("codex",)))
    assert look(files, mcp=(), environment=moved).state is CheckState.OK
    del files.texts["/data/.codex/hooks.json"]
    assert look(files, mcp=(), environment=moved).mend == "kiro-learn install codex"


def test_what_a_later_version_would_write_otherwise_is_told() -> None:
    files = InMemoryAgentFiles({str(USER / ".gemini/settings.json"): "{}"})
    installation = installation_of(files)
    installation.carry_out(installation.plan(("gemini",)))
    found = look(files)
    assert found.detail.endswith("it was written by an earlier version")
    assert found.mend == "kiro-learn install gemini"


def test_a_manifest_that_cannot_be_read_is_laid_aside() -> None:
    files = InMemoryAgentFiles(kept_manifest="{}")
    found = look(files)
    assert (found.state, "manifest.json" in found.detail) == (CheckState.FAILED, True)
    manifest = USER / ".kiro-learn/manifest.json"
    assert found.mend == f"mv {manifest} {manifest}.damaged && kiro-learn install"


def test_of_many_faults_the_first_are_named() -> None:
    files = InMemoryAgentFiles()
    install(files)
    files.texts.clear()
    found = look(files)
    assert found.detail.count("it is gone") == 3
    assert found.detail.endswith(" more")
    assert found.mend == f"kiro-learn install {' '.join(AGENTS)}"


def test_paths_with_blanks_are_quoted() -> None:
    shop = PurePosixPath("/home/ada/my shop")
    files = InMemoryAgentFiles({str(shop / ".git/HEAD"): ""})
    install(files, "cursor", project=shop)
    edit(files, str(shop / ".cursor/hooks.json"), lambda document: document.clear())
    assert look(files).mend == "(cd '/home/ada/my shop' && kiro-learn install cursor --project)"
