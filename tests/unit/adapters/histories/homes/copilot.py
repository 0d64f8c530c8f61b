"""A home with sessions of Copilot CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSIONS = Path(".copilot/session-state")


def line(place: int, kind: str, data: dict[str, Any], at: str | None = None) -> bytes:
    value = {"type": kind, "id": f"e{place}", "timestamp": at or f"2026-06-01T12:00:{place:02}.000Z", "data": data}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def done(call: str, text: str, *, success: bool) -> dict[str, Any]:
    result = {"content": text} if success else None
    error = {} if success else {"error": {"message": text}}
    return {"toolCallId": call, "success": success, "result": result, **error}


def started(call: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"toolCallId": call, "toolName": name, "arguments": arguments}


SHOP: list[tuple[str, dict[str, Any]]] = [
    ("session.start", {"sessionId": "p-shop", "version": 1, "context": {"cwd": "/src/shop", "branch": "main"}}),
    ("user.message", {"content": "why is the basket\u2028empty?", "transformedContent": "<context>…</context>"}),
    ("assistant.turn_start", {"turnId": "0"}),
    ("assistant.reasoning", {"content": "I wonder."}),
    ("assistant.message", {"content": "", "toolRequests": [{"toolCallId": "k1", "name": "bash"}]}),
    ("tool.execution_start", started("k1", "bash", {"command": "pytest -q"})),
    ("tool.execution_start", started("k2", "view", {"path": "/src/shop/basket.py"})),
    ("tool.execution_complete", done("k2", "def basket(): ...", success=True)),
    ("tool.execution_complete", done("k1", "1 failed", success=False)),
    ("tool.execution_start", started("k3", "bash", {"command": "make"})),
    ("tool.execution_complete", done("k3", "no rule\n<exited with exit code 2>", success=True)),
    ("assistant.message", {"content": "The cookie is read too early.", "toolRequests": []}),
    ("session.compaction_complete", {"success": True, "summaryContent": "The basket is kept in a cookie."}),
    ("an.unknown_type", {"content": "?"}),
    ("user.message", {"content": "keep it there"}),
    ("tool.execution_start", started("k4", "bash", {"command": "sleep 9"})),
]
"""Rows with a line separator within a line, results in the order of completion, and a call without a result."""


def build(home: Path) -> None:
    shop = home / SESSIONS / "p-shop"
    shop.mkdir(parents=True)
    lines = [line(place, kind, data) for place, (kind, data) in enumerate(SHOP)]
    (shop / "events.jsonl").write_bytes(b"".join(lines) + b'{"type": "user.message", "data": {"content": "tor')
    other = home / SESSIONS / "p-api"
    other.mkdir()
    start = line(0, "session.start", {"sessionId": "p-api", "context": {"cwd": "/src/api"}})
    resumed = line(1, "session.resume", {"context": {"cwd": "/src/api/web"}})
    prompt = line(2, "user.message", {"content": "which port?"}, at="2026-06-02T08:00:00+02:00")
    (other / "events.jsonl").write_bytes(b"\xef\xbb\xbf" + b"".join((start, resumed, prompt)).replace(b"\n", b"\r\n"))
