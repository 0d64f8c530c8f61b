"""A home with sessions of Kiro IDE in its three forms: chats, workspace sessions with executions, and journals."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

STORAGE = Path(".config/Kiro/User/globalStorage/kiro.kiroagent")
JOURNALS = Path(".kiro/sessions")
NOON = 1_780_315_200_000
EXECUTIONS = "414d1636299d2b9e4ce7e17fb11f63e9"


def hashed(folder: str) -> str:
    return hashlib.sha256(folder.encode()).hexdigest()[:32]


def encoded(folder: str) -> str:
    return base64.urlsafe_b64encode(folder.encode()).decode().replace("=", "_")


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def said(role: str, content: Any, message_id: str, execution: str | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"message": {"role": role, "content": content, "id": message_id}, "promptLogs": []}
    return entry if execution is None else {**entry, "executionId": execution}


def action(kind: str, action_id: str, given: Any, output: Any, at: int, *, state: str = "Success") -> dict[str, Any]:
    fields = {"actionType": kind, "actionId": action_id, "actionState": state, "input": given, "output": output}
    return {"type": "AgentExecutionAction", "emittedAt": NOON + at, **fields}


SHOP = {
    "sessionId": "w-shop",
    "title": "Basket",
    "workspaceDirectory": "/src/shop",
    "history": [
        said("user", [{"type": "text", "text": "why is the basket empty?"}, {"type": "mention", "text": "x"}], "h1"),
        said("assistant", "On it.", "h2", "x1"),
        said("user", "keep it in a cookie", "h3"),
        said("assistant", "I keep it in a cookie.", "h4", "gone"),
    ],
}
RUN = {
    "executionId": "x1",
    "workflowType": "chat-agent",
    "status": "succeed",
    "startTime": NOON,
    "endTime": NOON + 9000,
    "chatSessionId": "w-shop",
    "actions": [
        action("intentClassification", "i1", {}, {}, 100),
        action("reasoning", "r1", {}, {"message": "I wonder."}, 200),
        action(
            "runCommand",
            "k1",
            {"command": "pytest -q", "cwd": "/src/shop"},
            {"output": "1 failed", "exitCode": 1},
            1000,
        ),
        action("runCommand", "k2", {"command": "ls", "cwd": "/src/shop"}, {"output": "a", "exitCode": 0}, 2000),
        action("readFiles", "k3", {"files": [{"path": "basket.py"}]}, {}, 3000, state="Accepted"),
        action("replace", "k4", {"file": "basket.py", "modifiedContent": "late()"}, {}, 4000, state="Canceled"),
        action("mcp", "k5", {"toolName": "search", "toolArgs": {"q": "x"}}, {"response": "none"}, 5000),
        action("say", "s1", {}, {"message": "The cookie is read too early."}, 6000),
    ],
}
CHAT = {
    "executionId": "e-chat",
    "chat": [
        {"role": "human", "content": "# System Prompt\n\nYou are …"},
        {"role": "bot", "content": "I will follow these instructions."},
        {"role": "human", "content": "<kiro-ide-message>\nwhich port?\n</kiro-ide-message>"},
        {"role": "tool", "content": "port = 8421"},
        {"role": "bot", "content": "Port 8421."},
        {"role": "human", "content": "## Included Rules (a.md)\n\nalways"},
    ],
    "metadata": {"workflow": "act", "workflowId": "flow-1", "startTime": NOON - 9000, "endTime": NOON - 5000},
}


def record(record_id: str, kind: str, second: int, /, **payload: Any) -> str:
    stamp = f"2026-09-01T10:00:{second:02}.000Z"
    return json.dumps({"id": record_id, "timestamp": stamp, "payload": {"type": kind, **payload}})


JOURNAL = [
    record("s0", "session_start", 0, content="You are Kiro"),
    record("u1", "user", 1, content="why is the basket empty?", images=[], documents=[]),
    record("u1b", "turn_start", 1, executionId="turn-1"),
    record("a1", "assistant", 2, operationType="Reasoning", content="I wonder."),
    record("c1", "tool_call", 3, toolCallId="n1", toolName="execute_bash", args={"command": "pytest -q"}),
    record("c2", "tool_call", 3, toolCallId="n2", toolName="fs_read", args={"path": "basket.py"}),
    record("r2", "tool_result", 4, toolCallId="n2", success=True, content="def basket(): ..."),
    record("r1", "tool_result", 5, toolCallId="n1", success=False, content="1 failed"),
    record("c3", "tool_call", 6, toolCallId="n3", toolName="execute_bash", args={"command": "sleep 9"}),
    record("b1", "sub_agent_start", 6, subSessionId="child", prompt="review"),
    record("t1", "tombstone", 7, kind="summarization", effectiveFromMessageId="u1"),
    record("a2", "assistant", 7, operationType="Summary", content="a summary"),
    record("a3", "assistant", 8, operationType="Say", content="The cookie is read too early."),
    record("e1", "turn_end", 9, executionId="turn-1", stopReason="end_turn"),
]


def build_journal(home: Path) -> None:
    folder = home / JOURNALS / "0123abcd" / "sess_shop"
    about = {"id": "sess_shop", "title": "Basket", "workspacePaths": ["/src/shop"], "createdAt": "2026-09-01T10:00:00Z"}
    write(folder / "session.json", about)
    (folder / "messages.jsonl").write_text("\r\n".join([*JOURNAL, '{"id": "torn", "payl']), "utf-8", newline="")


def build(home: Path) -> None:
    sessions = home / STORAGE / "workspace-sessions" / encoded("/src/shop")
    write(sessions / "sessions.json", [{"sessionId": "w-shop", "workspaceDirectory": "/src/shop"}])
    write(sessions / "w-shop.json", SHOP)
    runs = home / STORAGE / hashed("/src/shop")
    write(runs / "f0f0", {"executions": [{"executionId": "x1"}], "version": "2.0.0"})
    write(runs / EXECUTIONS / "77aa", RUN)
    write(runs / "88bb.chat", CHAT)
    build_journal(home)
