"""Files installed into a project can be committed: they name no machine's paths, and others' files stay unchanged."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest

from kiro_learn.services.installation_plan import Plan
from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

SHOP = USER / "shop"
MCP = ("/opt/venv/bin/kiro-learn", "mcp")
OTHER: dict[str, Any] = {"hook": "/srv/b/bin/hook", "mcp_environment": {"KIRO_LEARN_HOME": "/srv/b"}}
PASTED = '{"mcpServers": {"kiro-learn": {"type": "stdio", "command": "kiro-learn", "args": ["mcp"]}}}\n'


def install(files: InMemoryAgentFiles, *agents: str, project: PurePosixPath | None = SHOP, **home: Any) -> Plan:
    installation = installation_of(files, **{"mcp": MCP, **home})
    plan = installation.plan(agents or tuple(AGENTS), project=project)
    assert (plan.problems, installation.carry_out(plan)) == ((), ())
    return plan


def uninstall(files: InMemoryAgentFiles) -> None:
    installation = installation_of(files, mcp=MCP)
    assert installation.carry_out(installation.plan_removal()) == ()


def test_a_project_gets_no_path_of_this_machine() -> None:
    files = InMemoryAgentFiles({str(SHOP / ".git/HEAD"): "", str(SHOP / ".codex/config.toml"): "a = 1\n"})
    plan = install(files)
    assert (plan.is_portable, plan.is_in_git) == (True, True)
    written = {path: text for path, text in files.texts.items() if "kiro-learn" in text}
    assert str(SHOP / ".claude/settings.json") in written
    assert [path for path, text in written.items() if str(USER) in text or "/opt/" in text] == []
    assert "~/.kiro-learn/bin/hook claude-code 2>/dev/null || true" in written[str(SHOP / ".claude/settings.json")]
    assert json.loads(written[str(SHOP / ".cursor/mcp.json")])["mcpServers"]["kiro-learn"] == {
        "command": "kiro-learn",
        "args": ["mcp"],
    }
    assert installation_of(files, dict.fromkeys(AGENTS, "1"), mcp=MCP).inspection.report().faults == ()


def test_another_home_than_the_usual_one_is_named_by_its_path() -> None:
    files = InMemoryAgentFiles()
    assert not install(files, "claude-code", **OTHER).is_portable
    assert "/srv/b/bin/hook" in files.texts[str(SHOP / ".claude/settings.local.json")]


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_colleague_committed_is_left_by_installing_and_uninstalling(agent: str) -> None:
    """The colleague's manifest stayed on the colleague's machine."""
    files = InMemoryAgentFiles()
    install(files, agent)
    files.kept_manifest = None
    before = dict(files.texts)
    assert install(files, agent).changes == ()
    uninstall(files)
    assert files.texts == before


def test_a_server_that_was_pasted_as_the_documents_say_is_given_back() -> None:
    files = InMemoryAgentFiles({str(SHOP / ".mcp.json"): PASTED})
    install(files, "claude-code")
    install(files, "claude-code")
    uninstall(files)
    assert files.texts == {str(SHOP / ".mcp.json"): PASTED}


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_file_without_a_value_is_filled_and_given_back(text: str) -> None:
    empty = {str(SHOP / path): text for path in (".claude/settings.json", ".mcp.json", ".gemini/settings.json")}
    files = InMemoryAgentFiles(empty)
    install(files, "claude-code", "gemini")
    assert all("kiro-learn" in files.texts[path] for path in empty)
    uninstall(files)
    assert files.texts == empty


def test_what_an_earlier_version_wrote_with_paths_is_replaced_and_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {str(SHOP / ".claude/settings.local.json"): '{"model": "opus"}', str(SHOP / ".gemini/settings.json"): "{}"}
    files = InMemoryAgentFiles(dict(mine))
    with monkeypatch.context() as earlier:
        earlier.setattr("kiro_learn.agent_files.commands.Commands.portable", property(lambda commands: commands))
        install(files)
        assert HOOK in files.texts[str(SHOP / ".claude/settings.local.json")]
    install(files)
    assert [path for path, text in files.texts.items() if HOOK in text] == []
    assert files.texts[str(SHOP / ".claude/settings.local.json")] == '{"model": "opus"}'
    uninstall(files)
    assert files.texts == mine


def test_a_second_home_says_from_which_one_it_takes_over() -> None:
    files = InMemoryAgentFiles()
    assert install(files, "claude-code", project=None).taken_from == ()
    assert install(files, "claude-code", project=None, **OTHER).taken_from == (USER / ".kiro-learn",)
    assert install(files, "claude-code", project=None).taken_from == (PurePosixPath("/srv/b"),)
    assert install(files, "claude-code", project=None).taken_from == ()
