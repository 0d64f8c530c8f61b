"""The commands that agents are given, and the modules that verbs without a daemon load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kiro_learn.app import maintenance

AGENTS = ("claude-code", "codex", "cursor", "gemini", "kiro-cli", "kiro-ide")


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))
    plan = maintenance.open_installation(tmp_path / ".kiro-learn", {"PATH": ""}).plan(AGENTS)
    assert plan.problems == ()
    return "\n".join(step.after or "" for step in plan.changes)


def test_hooks_are_the_homes_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"{tmp_path}/.kiro-learn/bin/hook codex || true" in written(tmp_path, monkeypatch)


def test_the_server_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(tmp_path, monkeypatch)
    assert text.count('"mcp"') == 5, "one for each agent; Kiro's two share theirs"
    assert "mcp_servers.kiro-learn" in text
    program, *_ = maintenance._mcp_command()
    assert Path(program).is_absolute()
    assert text.count(f'"{program}"') == 5


def test_nothing_of_the_daemon_is_loaded() -> None:
    code = "import sys, kiro_learn.app.maintenance; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in modules if name.startswith(("kiro_learn.actors", "kiro_learn.pipelines"))]
