"""init, install and uninstall as a user meets them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.agent_files.json_edits import parse
from tests.integration.agents.machine import HOMES, Machine
from tests.integration.cli.command_line import done, in_a_folder_that_is_gone, kiro_learn
from tests.integration.cli.terminal import at_terminal

MOST_SECONDS = 5.0
"""The longest time on a machine with five agents, without the daemon's start."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with five agents, each with files of its own."""
    made = Machine(tmp_path, files_of="claude-code")
    for agent in ("kiro-cli", "codex", "gemini", "cursor"):
        shutil.copytree(HOMES / agent, made.user, dirs_exist_ok=True)
    for name, version in (("kiro-cli", "2.11.0"), ("claude", "2.1.4"), ("codex", "0.153.2"), ("gemini", "0.31.0")):
        made.has_program(name, version)
    return made


def terminal(machine: Machine, *arguments: str, typed: str = "") -> tuple[int, list[str]]:
    names = ("HOME", "PATH")
    changes = {name: machine.environment()[name] for name in names}
    return at_terminal(
        machine.home, *arguments, typed=typed, changes={**changes, "KIRO_LEARN_SERVER_PORT": "0", "NO_COLOR": "1"}
    )


def test_a_new_user_is_shown_what_changes_and_has_a_daemon_and_a_hook_afterwards(machine: Machine) -> None:
    before = machine.tree()
    code, lines = terminal(machine, "init", typed="y\n")
    screen = "\n".join(lines)
    assert code == 0, screen
    assert "Kiro CLI 2.11.0 · Claude Code 2.1.4 · Codex 0.153.2" in screen
    assert "Not found  Kiro IDE" in screen
    question = screen.index("Go on (")
    assert -1 < screen.find("Kiro CLI will start with another agent, kiro-learn") < question
    assert -1 < screen.find("Kiro CLI will word the memories") < question
    for what in (
        "14 files written",
        "Daemon answers",
        "Hook reaches the daemon",
        "it asks you once to trust",
        "Ready.",
    ):
        assert what in screen
    assert machine.tree() != before
    code, lines = terminal(machine, "init")
    assert (code, "All of them are connected already." in lines) == (0, True), lines
    code, lines = terminal(machine, "uninstall", "--purge", typed="y\ny\n")
    assert code == 0, lines
    assert "kiro-learn.db" in "\n".join(lines)
    assert machine.tree() == before
    assert not machine.home.exists()


def test_no_means_that_nothing_is_written(machine: Machine) -> None:
    before = machine.tree()
    code, lines = terminal(machine, "init", "--no-compressor", typed="n\n")
    # It shows what would be done now.
    assert "See every line: kiro-learn install --no-compressor --dry-run" in lines
    code, lines = terminal(machine, "init", typed="n\n")
    assert (code, lines[-1]) == (1, "Go on (change 11 files, create 3 files)? [Y/n] error: nothing was written")
    assert (machine.tree(), machine.home.exists()) == (before, False)


def test_without_a_terminal_it_takes_a_yes(machine: Machine) -> None:
    before = machine.tree()
    asked = machine.run("install")
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    assert (machine.tree(), machine.home.exists()) == (before, False)
    began = time.monotonic()
    assert machine.run("install", "--yes").returncode == 0
    assert time.monotonic() - began < MOST_SECONDS
    assert machine.run("uninstall", "--yes", "--purge").returncode == 0
    assert machine.tree() == before


def test_a_dry_run_is_a_diff_and_changes_nothing(machine: Machine) -> None:
    before = machine.tree()
    shown = machine.run("install", "claude-code", "--dry-run")
    assert shown.returncode == 0
    assert shown.stdout.count("\n+++ ~/.claude/settings.json\n") == 1
    assert shown.stderr.endswith("Would change 2 files. Nothing was written.\n")
    assert (machine.tree(), machine.home.exists()) == (before, False)


def test_files_that_cannot_be_edited_are_named_and_the_others_are_done(machine: Machine) -> None:
    (machine.user / ".gemini/settings.json").write_text('{\n  "hooks": nonsense\n}\n')
    (machine.user / ".cursor/hooks.json").chmod(0o444)
    before = machine.tree()
    done = machine.run("install", "--yes")
    assert done.returncode == 1
    assert "~/.gemini/settings.json  line 2, column 12: expected a value. Left alone.\n" in done.stderr
    assert "~/.cursor/hooks.json  is read-only. Left alone.\n" in done.stderr
    after = machine.tree()
    assert {path for path in before if before[path] != after[path]} >= {".claude/settings.json", ".codex/hooks.json"}
    assert all(before[path] == after[path] for path in (".gemini/settings.json", ".cursor/hooks.json"))
    assert machine.run("uninstall", "--yes").returncode == 0
    assert machine.tree() == before


def test_an_agent_whose_file_was_left_alone_is_not_said_to_be_ready(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.user / ".claude").mkdir()
    settings = machine.user / ".claude" / "settings.json"
    settings.write_text("{")
    code, lines = terminal(machine, "init", "--yes")
    assert (code, lines[-1][:37]) == (1, "Ready, but for 1 file that was left a")
    settings.unlink()
    code, lines = terminal(machine, "init", "--yes")
    assert (code, any(line.startswith("Ready. Use your agents") for line in lines)) == (0, True)
    assert terminal(machine, "uninstall", "--purge", "--yes")[0] == 0


@pytest.mark.parametrize("name", [".kiro-learn", "o'brien & $HOME `x`"])
def test_a_file_too_large_to_edit_is_left_to_the_agents_own_command(machine: Machine, name: str) -> None:
    machine.home = machine.user / name
    (machine.user / ".claude.json").write_text(json.dumps({"history": "x" * 4_194_304}))
    done = machine.run("install", "claude-code", "--yes")
    [hint] = [line.removeprefix("hint:").strip() for line in done.stderr.splitlines() if line.startswith("hint:")]
    stub = machine.programs / "claude"
    stub.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    typed = subprocess.run(["/bin/sh", "-c", hint], env=machine.environment(), capture_output=True, check=True)
    words = json.loads(typed.stdout)
    end = words.index("--")
    variables = [] if name == ".kiro-learn" else ["--env", f"KIRO_LEARN_HOME={machine.home}"]
    assert words[:end] == ["mcp", "add", *variables, "--scope", "user", "kiro-learn"]
    shown = subprocess.run([*words[end + 1 : -1], "--version"], capture_output=True, text=True, check=True)
    assert (words[-1], "kiro-learn" in shown.stdout) == ("mcp", True)


def test_links_into_a_folder_of_dotfiles_stay_links(machine: Machine) -> None:
    dotfiles = machine.user / "dotfiles"
    dotfiles.mkdir()
    settings = machine.user / ".claude/settings.json"
    settings.rename(dotfiles / "claude.json")
    settings.symlink_to(dotfiles / "claude.json")
    before = machine.tree()
    assert machine.run("install", "claude-code", "--yes").returncode == 0
    assert settings.is_symlink()
    assert "/bin/hook claude-code" in (dotfiles / "claude.json").read_text()
    assert machine.run("uninstall", "--yes").returncode == 0
    assert machine.tree() == before


def test_a_program_reads_what_was_done(machine: Machine) -> None:
    planned = json.loads(machine.run("install", "codex", "--dry-run", "--json").stdout)
    assert (planned["written"], [each["action"] for each in planned["files"]]) == (False, ["change", "change"])
    done = json.loads(machine.run("install", "codex", "--yes", "--json").stdout)
    assert (done["written"], done["files"], done["problems"]) == (True, planned["files"], [])
    assert {"name": "codex", "version": "0.153.2"} in done["agents"]
    assert json.loads(machine.run("uninstall", "--yes", "--json").stdout)["written"]


def test_init_starts_the_daemon_for_a_program_too(machine: Machine) -> None:
    machine.home.mkdir(mode=0o700)
    (machine.home / "settings.toml").write_text("[server]\nport = 0\n")
    done = machine.run("init", "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["written"], done.stderr) == (0, True, "")
    assert json.loads(machine.run("stop", "--json").stdout) == {"stopped": True}


def test_a_home_of_its_own_has_a_server_of_its_own(machine: Machine) -> None:
    """Agents pass few variables to a server, which would serve the home in the user's folder otherwise."""
    machine.home = machine.user / "other home"
    assert machine.run("install", "cursor", "--yes").returncode == 0
    document: Any = parse((machine.user / ".cursor/mcp.json").read_text()).plain()
    server = document["mcpServers"]["kiro-learn"]
    assert server["env"] == {"KIRO_LEARN_HOME": str(machine.home)}


def test_what_is_in_the_home_and_not_ours_stays(machine: Machine) -> None:
    assert machine.run("install", "codex", "--yes").returncode == 0
    (machine.home / "my-model").mkdir()
    purged = machine.run("uninstall", "--purge", "--yes")
    assert purged.returncode == 0
    assert "except for files of others: my-model" in purged.stdout
    assert [path.name for path in machine.home.iterdir()] == ["my-model"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("install", "emacs"), 2, "emacs"),
        (("uninstall", "codex", "--purge"), 2, "--purge is for all agents"),
        (("install", "--project"), 2, "this folder is your home folder, not a project"),
        (("uninstall", "--yes"), 0, ""),
    ],
)
def test_what_makes_no_sense_is_said(machine: Machine, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = machine.run(*arguments)
    assert done.returncode == code
    assert said in done.stderr


def test_a_machine_without_agents_is_told_which_there_are(tmp_path: Path) -> None:
    done = Machine(tmp_path).run("install", "--yes")
    assert (done.returncode, "no coding agent was found" in done.stderr) == (1, True)


def test_a_hook_that_works_is_not_said_to_fail_where_the_current_folder_was_removed(machine: Machine) -> None:
    environment = machine.environment({"KIRO_LEARN_SERVER_PORT": "0"})
    try:
        gone = in_a_folder_that_is_gone(machine.user / "worktree", environment, "init", "--yes")
        assert (gone.returncode, "Hook reaches the daemon" in gone.stdout) == (0, True), gone
    finally:
        done(kiro_learn(machine.home, "stop"))


def test_only_agents_of_which_a_file_was_written_are_named_with_their_next_step(machine: Machine) -> None:
    (machine.user / ".cursor" / "hooks.json").write_text("{")
    (machine.user / ".cursor" / "mcp.json").write_text("{")
    done = machine.run("install", "--yes")
    assert done.returncode == 1
    assert "it asks you once to trust the hooks" in done.stdout
    assert "start a new chat" not in done.stdout
