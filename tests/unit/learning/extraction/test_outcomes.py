"""A failed and a good call of each agent, as it reports them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kiro_learn.learning.extraction.framing import ToolCall, frame, parts_of, readable
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.event import EventKind, JsonBody
from kiro_learn.testing.daemon import an_event

CALLS: dict[str, tuple[Any, Any]] = {
    "Claude Code": (
        [{"type": "tool_result", "is_error": True, "content": "1 test broke"}],
        [{"type": "tool_result", "is_error": False, "content": "42 passed"}],
    ),
    "Claude Code, a shell": ({"stdout": "", "interrupted": True}, {"stdout": "42 passed", "interrupted": False}),
    "our hook for failed tools": (
        {"success": False, "result": "Exit code 1\nno rule"},
        {"success": True, "result": "done"},
    ),
    "Codex": ("Process exited with code 1\nOutput:\nno rule", "Process exited with code 0\nOutput:\n42 passed"),
    "Codex, wrapped": (
        json.dumps({"output": "no rule", "metadata": {"exit_code": 2}}),
        json.dumps({"output": "42 passed", "metadata": {"exit_code": 0}}),
    ),
    "Codex, a tool of a server": ({"content": "x", "success": False}, {"content": "x", "success": True}),
    "Gemini CLI": (
        {"llmContent": "x", "returnDisplay": "x", "error": {"message": "no rule"}},
        {"llmContent": "42 passed", "returnDisplay": "42 passed", "error": None},
    ),
    "Gemini CLI, a session": ({"status": "cancelled", "result": []}, {"status": "success", "result": []}),
    "Cursor": (
        json.dumps({"output": "no rule", "exitCode": 101, "rejected": False}),
        json.dumps({"output": "42 passed", "exitCode": 0, "rejected": False}),
    ),
    "Cursor, refused": (json.dumps({"output": "", "rejected": True}), json.dumps({"output": "", "rejected": False})),
    "Kiro CLI": (
        {"success": True, "result": [{"exit_status": "exit status: 2", "stdout": "", "stderr": "no rule"}]},
        {"success": True, "result": [{"exit_status": "exit status: 0", "stdout": "42 passed", "stderr": ""}]},
    ),
    "Kiro CLI, killed": (
        {"success": True, "result": [{"exit_status": "signal: 9 (SIGKILL)", "stdout": ""}]},
        {"success": True, "result": [{"exit_status": "0", "stdout": ""}]},
    ),
    "Kiro CLI, a session": (
        {"status": "success", "content": [{"kind": "json", "data": {"exit_status": "exit status: 2"}}]},
        {"status": "success", "content": [{"kind": "json", "data": {"exit_status": "exit status: 0"}}]},
    ),
    "Amazon Q": (
        {"success": True, "result": [{"exit_status": "1", "stdout": "x"}]},
        {"success": True, "result": [{"exit_status": "0", "stdout": "x"}]},
    ),
    "Kiro IDE": ({"success": False, "result": "x"}, {"success": True, "result": "x"}),
    "opencode": (
        {"state": {"status": "completed", "output": "x", "metadata": {"exit": 1}}},
        {"state": {"status": "completed", "output": "x", "metadata": {"exit": 0}}},
    ),
    "opencode, a tool": ({"state": {"status": "error"}}, {"state": {"status": "completed"}}),
    "Copilot CLI, a shell": (
        {"success": True, "result": {"content": "no rule\n<exited with exit code 2>"}},
        {"success": True, "result": {"content": "42 passed\n<exited with exit code 0>"}},
    ),
    "Copilot CLI": ({"success": False, "result": {"content": "x"}}, {"success": True, "result": {"content": "x"}}),
    "VS Code": ({"terminalCommandState": {"exitCode": 127}}, {"terminalCommandState": {"exitCode": 0}}),
    "Goose": (
        {"success": True, "result": {"isError": True, "content": "x"}},
        {"success": True, "result": {"isError": False, "content": "x"}},
    ),
    "a text": ("npm ERR! missing script", "added 3 packages"),
}


@pytest.mark.parametrize("agent", CALLS)
def test_each_agent_is_understood(agent: str) -> None:
    failed, good = CALLS[agent]
    assert has_failed("shell", failed, readable(failed))
    assert not has_failed("shell", good, readable(good))


@pytest.mark.parametrize(
    "response",
    [
        None,
        True,
        1,
        "",
        "{",
        '{"a": ' * 2_000,
        {"success": "no", "exit_code": True, "isError": 1, "status": None, "error": " "},
        {"exitCode": None, "result": {"status": "cancelled", "error": "what the tool found"}},
        {"result": [{"orders": [{"status": "failed"}]}]},
        json.dumps({"status": "error", "error": "as a server said", "success": False}),
        json.dumps([{"exitCode": 1}]),
        {"exit_status": "unknown"},
    ],
)
def test_nothing_else_is_a_failure(response: Any) -> None:
    assert not has_failed("shell", response, "")


def test_what_a_file_says_is_no_failure_of_the_tool_that_read_it() -> None:
    assert not has_failed("fs_read", "Traceback (most recent call last)", "Traceback (most recent call last)")
    assert has_failed("fs_read", {"success": False, "result": "no such file"}, "")


def test_a_learner_is_shown_that_a_tool_failed() -> None:
    failed, good = CALLS["Kiro CLI"]
    for response, mark in ((failed, '<output failed="true">'), (good, "<output>")):
        data = {"tool_name": "execute_bash", "tool_input": {"command": "make"}, "tool_response": response}
        event = an_event(1, kind=EventKind.TOOL_USE, body=JsonBody(data))
        assert mark in frame([BufferedEvent(event, position=1, size_bytes=1)]).text
        [call] = parts_of(event)
        assert isinstance(call, ToolCall)
        assert call.has_failed is (response is failed)
