"""A home with sessions of Kiro CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSIONS = Path(".kiro/sessions/cli")


def line(kind: str, number: int, *blocks: tuple[str, Any], at: int | None = None, **fields: Any) -> bytes:
    data = {"message_id": f"m{number}", "content": [{"kind": sort, "data": value} for sort, value in blocks], **fields}
    if at is not None:
        data["meta"] = {"timestamp": at}
    return json.dumps({"version": number % 2 or "v1", "kind": kind, "data": data}).encode() + b"\n"


def call(call_id: str, command: str) -> tuple[str, Any]:
    return "toolUse", {"toolUseId": call_id, "name": "shell", "input": {"command": command}}


def result(call_id: str, exit_status: str, *, status: str = "success", stderr: str = "") -> tuple[str, Any]:
    shown = {"exit_status": exit_status, "stdout": "", "stderr": stderr}
    return "toolResult", {"toolUseId": call_id, "status": status, "content": [{"kind": "json", "data": shown}]}


AT = 1_790_848_800
"""2026-10-01T10:00:00Z"""
LINES = (
    line("SystemPrompt", 0, ("text", "you are")),
    line("Prompt", 1, ("text", "fix the retry"), at=AT),
    line("AssistantMessage", 2, ("thinking", "hm"), ("text", "I look."), call("t1", "make test"), call("t2", "ls")),
    line("ToolResults", 3, result("t2", "0"), result("t1", "exit status: 2", stderr="no rule")),
    line("AssistantMessage", 4, call("t1", "make")),
    line("ToolResults", 5, result("t1", "0"), results={"t1": {"result": {"Success": {}}}}),
    line("AssistantMessage", 6, call("t3", "cat big"), at=AT + 60),
    line("AssistantMessage", 7, ("text", "It is mended.")),
    line("Prompt", 8, ("text", "")),
    line("Prompt", 9, ("image", {}), ("text", "and the cart?"), at=AT + 120),
    line("ToolResults", 10, result("nowhere", "0")),
    line("Hologram", 11),
)
"""Lines with the success of a failed call, an id that comes again, a call without a result, and without times."""


def build(home: Path) -> None:
    folder = home / SESSIONS
    folder.mkdir(parents=True)
    about = {"session_id": "s-shop", "cwd": "/src/shop", "created_at": "2026-10-01T09:00:00Z", "session_state": {}}
    (folder / "s-shop.json").write_text(json.dumps(about))
    (folder / "s-shop.jsonl").write_bytes(b"".join(LINES) + b'{"version": "v1", "kind": "Prompt"')
    (folder / "s-shop.lock").write_text("1")
    (folder / "s-lost.jsonl").write_bytes(line("Prompt", 1, ("text", "which port?")))
