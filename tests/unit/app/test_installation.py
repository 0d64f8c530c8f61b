"""What agents are told to run, with and without an MCP server to tell them of."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.app import installation

AGENTS = ("claude-code", "codex", "cursor", "gemini", "kiro-cli", "kiro-ide")


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))
    plan = installation.open_installation(tmp_path / ".kiro-learn", {"PATH": ""}).plan(AGENTS)
    assert plan.problems == ()
    return "\n".join(step.after or "" for step in plan.changes)


def test_hooks_are_the_homes_own_and_no_server_is_named_before_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "HAS_MCP_SERVER", False)
    text = written(tmp_path, monkeypatch)
    assert f"{tmp_path}/.kiro-learn/bin/hook codex || true" in text
    assert '"mcp"' not in text


def test_the_server_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "HAS_MCP_SERVER", True)
    text = written(tmp_path, monkeypatch)
    assert text.count('"mcp"') == 5, "one for each agent; Kiro's two share theirs"
    assert "mcp_servers.kiro-learn" in text
    program, *_ = installation._mcp_command()
    assert Path(program).is_absolute()
    assert text.count(f'"{program}"') == 5
