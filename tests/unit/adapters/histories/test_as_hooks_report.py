"""Imported events are those that hooks would have reported, so that the same is learned; exceptions have a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.codex import CodexHistory
from kiro_learn.adapters.histories.gemini import GeminiHistory
from kiro_learn.adapters.histories.kiro_cli import KiroCliHistory
from kiro_learn.model.event import EventKind
from kiro_learn.ports.histories import HistoryReader, PastEvent
from kiro_learn.wire.hooks import read_hook
from tests.unit.adapters.histories.homes import claude_code, codex, gemini, kiro_cli
from tests.unit.adapters.histories.telling import place_of, told
from tests.unit.adapters.histories.transcripts import shortly

Payload = dict[str, Any]


@attrs.frozen
class Replay:
    """A session's file, and the payloads of its hooks for the same steps."""

    reader: HistoryReader
    path: Path
    lines: bytes
    session: str
    payloads: tuple[Payload, ...]

    def imported(self, home: Path) -> list[PastEvent]:
        file = home / self.path
        file.parent.mkdir(parents=True)
        file.write_bytes(self.lines)
        if self.reader.name == "kiro-cli":
            file.with_suffix(".json").write_text(json.dumps({"cwd": "/src/shop"}))
        if self.reader.name == "gemini":
            (file.parent.parent / ".project_root").write_text("/src/shop")
        return told(self.reader, place_of(home))[0]

    def reported(self) -> list[PastEvent]:
        payloads = [{"session_id": self.session, "cwd": "/src/shop", **payload} for payload in self.payloads]
        reports = [read_hook(self.reader.agent, json.dumps(payload).encode(), {})[0] for payload in payloads]
        return [
            PastEvent(
                session_id=report.session_id or "", kind=report.kind, key="", body=report.body, happened_at=None,
                folder=report.cwd,
            )
            for report in reports
        ]  # fmt: skip  # as short as it gets


def hook(name: str, **fields: Any) -> Payload:
    return {"hook_event_name": name, **fields}


def used(name: str, tool: str, given: Any, **fields: Any) -> Payload:
    return hook(name, tool_name=tool, tool_input=given, **fields)


QUESTIONS = {"questions": claude_code.QUESTIONS}
CLAUDE = Replay(
    ClaudeCodeHistory(),
    claude_code.PROJECT / f"{claude_code.SESSION}.jsonl",
    b"".join(claude_code.TURN),
    claude_code.SESSION,
    (
        hook("UserPromptSubmit", prompt="why is the basket\u2028empty?"),
        used("PostToolUse", "Bash", {"command": "ls"}, tool_response={"stdout": "a b", "stderr": ""}),
        used("PostToolUseFailure", "Bash", {"command": "pytest -q"}, error="Exit code 1\n1 failed"),
        used("PostToolUse", "AskUserQuestion", QUESTIONS, tool_response=claude_code.ANSWERED),
        hook("Stop", last_assistant_message="It is kept in Redis now."),
    ),
)
KIRO = Replay(
    KiroCliHistory(),
    kiro_cli.SESSIONS / "s-shop.jsonl",
    b"".join(kiro_cli.LINES[:4] + kiro_cli.LINES[7:8]),
    "s-shop",
    (
        hook("userPromptSubmit", prompt="fix the retry"),
        used(
            "postToolUse", "shell", {"command": "ls"},
            tool_response={"success": True, "result": [{"exit_status": "0", "stdout": "", "stderr": ""}]},
        ),
        used(
            "postToolUse", "shell", {"command": "make test"},
            tool_response={
                "success": True,
                "result": [{"exit_status": "exit status: 2", "stdout": "", "stderr": "no rule"}],
            },
        ),
        hook("stop", assistant_response="It is mended."),
    ),
)  # fmt: skip  # as short as it gets
CODEX = Replay(
    CodexHistory(),
    codex.DAY / f"rollout-2026-09-02T08-00-00-{codex.SHOP}.jsonl",
    codex.lines([*codex.FIRST[:8], *codex.THEN[2:4]]),
    codex.SHOP,
    (
        hook("UserPromptSubmit", prompt="fix the basket"),
        used(
            "PostToolUse",
            "Bash",
            {"command": "pytest -q"},
            tool_response="Process exited with code 1\n1 failed",
        ),
        hook("Stop", last_assistant_message="The basket is kept in Redis now."),
    ),
)
GEMINI = Replay(
    GeminiHistory(),
    gemini.TEMPORARY / "shop" / "chats" / "session-1.jsonl",
    gemini.lines([gemini.ROWS[0], *gemini.ROWS[2:8]]),
    "9b000000-shop",
    (
        hook("BeforeAgent", prompt="why is the basket empty?"),
        *(
            used("AfterTool", "run_shell_command", {"command": command}, tool_response=response)
            for command, response in (
                ("npm test", {"llmContent": "Command: npm test\nExit Code: 1", "returnDisplay": ""}),
                ("npm ci", {"llmContent": "no network", "returnDisplay": "", "error": "no network"}),
                ("npm ls", {"llmContent": "", "error": "cancelled"}),
                ("ls", {"llmContent": "a b", "returnDisplay": "a b"}),
            )
        ),
        hook("AfterAgent", prompt="why is the basket empty?", prompt_response="It is mended."),
    ),
)


@pytest.mark.parametrize("replay", [CLAUDE, KIRO], ids=lambda replay: replay.reader.name)
def test_every_body_is_that_of_the_hook(replay: Replay, tmp_path: Path) -> None:
    """Then the same is learned: learning sees only bodies, sessions, projects and times."""
    imported = [attrs.evolve(event, key="", happened_at=None, may_go_on=False) for event in replay.imported(tmp_path)]
    assert imported == replay.reported()


@pytest.mark.parametrize("replay", [CODEX, GEMINI], ids=lambda replay: replay.reader.name)
def test_where_hooks_say_more_or_otherwise_it_is_the_same_step(replay: Replay, tmp_path: Path) -> None:
    """Only to hooks, Codex calls its shell Bash; Gemini CLI also gives them what it shows."""
    imported, reported = replay.imported(tmp_path), replay.reported()
    assert [event.kind for event in imported] == [event.kind for event in reported]
    for one, other in zip(imported, reported, strict=True):
        assert (one.session_id, one.folder) == (other.session_id, other.folder)
        if one.kind is EventKind.TOOL_USE:
            assert shortly(one).rpartition(" ")[2] == shortly(other).rpartition(" ")[2], "failed or well"
        else:
            assert one.body == other.body
