"""Each agent and version: installed next to others' hooks, fired as the agent does, and removed to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client.routes import Client
from kiro_learn.wire.agents import AGENTS
from tests.integration.agents.machine import FIXTURES, Machine, commands_in
from tests.integration.cli.command_line import record
from tests.integration.daemon_process import running_daemon

pytestmark = pytest.mark.one_python

TITLE = "Refresh tokens before the expiry check, part 1"
SUMMARY = (
    "Why does the login drop after fifteen minutes: always refresh the token before the expiry check, never after it."
)


def as_text(answer: str, _hook: str) -> str:
    return answer


def as_claudes_json(answer: str, hook: str) -> str:
    said = json.loads(answer)
    assert set(said) == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["hookEventName"] == hook
    return str(said["hookSpecificOutput"]["additionalContext"])


def as_cursors_json(answer: str, _hook: str) -> str:
    said = json.loads(answer)
    assert (set(said), said["continue"]) == ({"continue", "additional_context"}, True)
    return str(said["additional_context"])


V1 = ".kiro/hooks/kiro-learn.json"
CASES: dict[str, tuple[str, str, str, Callable[[str, str], str], bool]] = {
    "kiro-cli-2 in an agent of the user": ("kiro-cli-2", "kiro-cli", ".kiro/agents/backend.json", as_text, False),
    "kiro-cli-2 in our agent": ("kiro-cli-2", "", ".kiro/agents/kiro-learn.json", as_text, False),
    "kiro-cli-2 headless": ("kiro-cli-2-headless", "kiro-cli", ".kiro/agents/review.json", as_text, False),
    "kiro-cli-2 classic": ("kiro-cli-2-classic", "", ".kiro/agents/kiro-learn.json", as_text, False),
    "kiro-cli-2 in a project": ("kiro-cli-2", "", "shop/.kiro/agents/kiro-learn.json", as_text, True),
    "kiro-cli-3": ("kiro-cli-3", "kiro-cli", V1, as_text, False),
    "kiro-ide-1": ("kiro-ide-1", "kiro-ide", V1, as_text, False),
    "kiro-ide-1 in a project": ("kiro-ide-1", "", f"shop/{V1}", as_text, True),
    "claude-code": ("claude-code-2", "claude-code", ".claude/settings.json", as_text, False),
    "claude-code in a project": ("claude-code-2", "", "shop/.claude/settings.json", as_text, True),
    "codex": ("codex", "codex", ".codex/hooks.json", as_claudes_json, False),
    "codex bare": ("codex", "", ".codex/hooks.json", as_claudes_json, False),
    "gemini": ("gemini", "gemini", ".gemini/settings.json", as_claudes_json, False),
    "cursor": ("cursor-3", "cursor", ".cursor/hooks.json", as_cursors_json, False),
}
"""For each case: the payloads; the home before the installation, or none; the file with the hooks; the form of the
answer; whether the hooks are in the project."""


def test_every_agent_has_a_case_with_a_home_and_one_without() -> None:
    recorded = {case[0]: json.loads((FIXTURES / f"{case[0]}.json").read_text())["agent"] for case in CASES.values()}
    assert {*recorded.values()} == {*AGENTS}, "record the new agent's payloads in fixtures/, and add a case to CASES"
    assert {case[1] for case in CASES.values()} == {"", *AGENTS}, "add files of the new agent to homes/, and its case"


@pytest.mark.parametrize("case", CASES)
def test_an_agent_is_installed_served_and_left_as_it_was(case: str, tmp_path: Path) -> None:
    fixture, files_of, config, read_answer, in_project = CASES[case]
    recorded = json.loads((FIXTURES / f"{fixture}.json").read_text())
    machine = Machine(tmp_path, files_of=files_of)
    before = machine.tree()
    scope = ["--project"] if in_project else []
    installed = machine.run("install", recorded["agent"], "--yes", *scope, cwd=machine.project)
    assert (installed.returncode, installed.stderr) == (0, ""), installed
    again = machine.tree()
    assert again != before
    assert machine.run("install", recorded["agent"], "--yes", *scope, cwd=machine.project).returncode == 0
    assert machine.tree() == again

    with running_daemon(machine.home, {"HOME": str(machine.user)}) as daemon:
        namespace = namespace_in(machine)
        daemon.call("POST", "/v1/memories", record(namespace, 1, summary=SUMMARY))
        told = fire_all(machine, machine.user / config, recorded["steps"])
        events = daemon.call("GET", "/v1/events")["items"]

    kinds = [step["kind"] for step in recorded["steps"] if step["kind"]]
    assert sorted(event["kind"] for event in events) == sorted(kinds)
    assert {event["namespace"] for event in events} == {namespace}
    assert len({event["session_id"] for event in events}) == 1
    answers = [text for text in told if text]
    said = [step["stdin"] for step in recorded["steps"] if isinstance(step["stdin"], dict)]
    emptied = [fields for fields in said if fields.get("source") in {"clear", "compact"}]
    assert len(answers) == 1 + len(emptied), "the start is told, or the prompt of an agent that reports no start"
    assert all(TITLE in read_answer(answer, "SessionStart") for answer in answers)

    removed = machine.run("uninstall", "--purge", "--yes")
    assert (removed.returncode, removed.stderr) == (0, ""), removed
    assert machine.tree() == before
    assert not machine.home.exists()


@pytest.mark.parametrize("case", ["kiro-cli-2 in our agent", "kiro-cli-3", "claude-code", "codex", "gemini", "cursor"])
def test_a_prompt_is_answered_in_its_own_form(case: str, tmp_path: Path) -> None:
    """The start told nothing, since nothing was remembered yet."""
    fixture, files_of, config, read_answer, _ = CASES[case]
    recorded = json.loads((FIXTURES / f"{fixture}.json").read_text())
    machine = Machine(tmp_path, files_of=files_of)
    assert machine.run("install", recorded["agent"], "--yes", cwd=machine.project).returncode == 0
    start, prompt = (next(step for step in recorded["steps"] if step["kind"] == kind) for kind in ("note", "prompt"))
    with running_daemon(machine.home, {"HOME": str(machine.user)}) as daemon:
        namespace = namespace_in(machine)
        assert fire_all(machine, machine.user / config, [start]) == [""]
        daemon.call("POST", "/v1/memories", record(namespace, 1, summary=SUMMARY))
        [answer] = fire_all(machine, machine.user / config, [prompt])
    assert f"### {TITLE}" in read_answer(answer, prompt["hook"])


def namespace_in(machine: Machine) -> str:
    with Client(machine.home) as client:
        return str(client.project_of(machine.project)["namespace"])


def fire_all(machine: Machine, config: Path, steps: list[dict[str, Any]]) -> list[str]:
    """The hook's output at each step. Only a start and a prompt are answered."""
    told = []
    for step in steps:
        [command] = commands_in(config, step["hook"])
        done = machine.fire(command, step["stdin"], step.get("environment", {}))
        assert (done.returncode, done.stderr) == (0, b""), step
        assert done.stdout == b"" or step["kind"] in {"note", "prompt"}, step
        told.append(done.stdout.decode())
    return told


def test_the_older_kiro_ide_reads_a_file_for_each_hook(tmp_path: Path) -> None:
    recorded = json.loads((FIXTURES / "kiro-ide-0.json").read_text())
    machine = Machine(tmp_path)
    hooks = machine.project / ".kiro" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "lint.kiro.hook").write_text('{"enabled": true, "then": {"type": "askAgent", "prompt": "lint"}}')
    before = machine.tree()
    assert machine.run("install", "kiro-ide", "--project", "--yes", cwd=machine.project).returncode == 0

    files = {"promptSubmit": "prompt", "postToolUse": "tool", "agentStop": "stop"}
    with running_daemon(machine.home, {"HOME": str(machine.user)}) as daemon:
        for step in recorded["steps"]:
            [command] = commands_in(hooks / f"kiro-learn-{files[step['hook']]}.kiro.hook", step["hook"])
            done = machine.fire(command, step["stdin"], step.get("environment", {}))
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), step
        events = daemon.call("GET", "/v1/events")["items"]
    assert sorted(event["kind"] for event in events) == ["prompt", "tool_use"]

    assert machine.run("uninstall", "--yes").returncode == 0
    assert machine.tree() == before


def test_codex_with_hooks_in_its_settings_gets_ours_there_too(tmp_path: Path) -> None:
    machine = Machine(tmp_path, files_of="codex-inline")
    before = machine.tree()
    assert machine.run("install", "codex", "--yes").returncode == 0
    assert not (machine.user / ".codex" / "hooks.json").exists()
    text = (machine.user / ".codex" / "config.toml").read_text()
    assert text.count("[[hooks.Stop.hooks]]") == 2
    assert machine.run("install", "codex", "--yes").returncode == 0
    assert (machine.user / ".codex" / "config.toml").read_text() == text
    assert machine.run("uninstall", "--yes").returncode == 0
    assert machine.tree() == before


def test_kiro_cli_that_reads_both_its_agents_hooks_and_those_beside_them_tells_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path, files_of="kiro-cli")
    assert machine.run("install", "kiro-cli", "kiro-ide", "--yes").returncode == 0
    embedded = machine.user / ".kiro/agents/backend.json"
    beside = machine.user / V1
    with running_daemon(machine.home, {"HOME": str(machine.user)}) as daemon:
        namespace = namespace_in(machine)
        daemon.call("POST", "/v1/memories", record(namespace, 1, summary=SUMMARY))
        v2 = json.loads((FIXTURES / "kiro-cli-2.json").read_text())["steps"]
        pascal = {"agentSpawn": "SessionStart", "stop": "Stop"}
        told = []
        for step in v2:
            told += fire_all(machine, embedded, [step])
            twin = pascal.get(step["hook"], step["hook"][0].upper() + step["hook"][1:])
            told += fire_all(machine, beside, [{**step, "hook": twin, "kind": step["kind"]}])
        events = daemon.call("GET", "/v1/events")["items"]
    assert sorted(event["kind"] for event in events) == sorted(step["kind"] for step in v2)
    assert sum(bool(text) for text in told) == 1
    assert machine.run("uninstall", "kiro-cli", "--yes").returncode == 0
    assert beside.exists()
    assert "/bin/hook" not in embedded.read_text()
    assert machine.run("uninstall", "kiro-ide", "--yes").returncode == 0
    assert not beside.exists()
