"""A home with sessions of Gemini CLI."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

TEMPORARY = Path(".gemini/tmp")


def head(session: str, **fields: Any) -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "…", "startTime": "2026-06-01T07:00:00Z", "kind": "main", **fields}


def message(place: int, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": f"m{place}", "timestamp": f"2026-06-01T07:00:{place:02}Z", "type": kind, "content": content, **fields}


def use(call_id: str, command: str, status: str, **response: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": call_id, "name": "run_shell_command", "response": response}}]
    return {
        "id": call_id, "name": "run_shell_command", "args": {"command": command}, "status": status,
        "result": result if response else [], "timestamp": "2026-06-01T07:00:30Z",
    }  # fmt: skip  # as short as it gets


TEXT = [{"text": "The rule is wrong."}]
ROWS: list[dict[str, Any]] = [
    head("9b000000-shop"),
    message(0, "user", [{"text": "<session_context>…"}]),
    message(1, "user", [{"text": "expanded"}], displayContent=[{"text": "why is the basket empty?"}]),
    message(2, "gemini", TEXT),
    {"$set": {"lastUpdated": "2026-06-01T07:00:03Z"}},
    message(
        2, "gemini", TEXT,
        toolCalls=[
            use("t1", "npm test", "success", output="Command: npm test\nExit Code: 1"),
            use("t2", "npm ci", "error", error="no network"),
            use("t3", "npm ls", "cancelled"),
            use("t4", "npm run", "executing"),
            use("t5", "ls", "success", output="a b"),
        ],
    ),
    message(3, "info", "update available"),
    message(4, "gemini", "It is mended."),
    message(5, "user", [{"text": "color it blue"}]),
    message(6, "gemini", "Blue."),
    {"$rewindTo": "m5"},
    message(7, "user", [{"text": "color it green"}]),
    message(8, "hologram", "?"),
]  # fmt: skip  # as short as it gets


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def build(home: Path) -> None:
    """Write a journal, one in which everything is replaced, a sub-agent's, and an older document."""
    shop = home / TEMPORARY / "shop" / "chats"
    (shop / "9b000000-shop").mkdir(parents=True)
    (shop.parent / ".project_root").write_text("/src/shop\n")
    (shop / "session-2026-06-01T07-00-9b000000.jsonl").write_bytes(lines(ROWS) + b'{"id": "m9", "type": "user"')
    child = [head("9b000000-shop", kind="subagent"), message(1, "user", "you search"), message(2, "gemini", "None.")]
    (shop / "9b000000-shop" / "child.jsonl").write_bytes(lines(child))
    anew = [head("set"), message(1, "user", "old"), {"$set": {"messages": [message(2, "user", "new")]}}]
    (shop / "session-2026-06-02T07-00-00000set.jsonl").write_bytes(lines(anew))
    hashed = home / TEMPORARY / hashlib.sha256(b"/src/api").hexdigest() / "chats"
    hashed.mkdir(parents=True)
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/src/api": "api", "/src/shop": "shop"}}))
    document = head("old") | {"messages": [message(1, "user", "which port?"), message(2, "gemini", "8080.")]}
    (hashed / "session-2025-06-01T07-00-00000old.json").write_text(json.dumps(document))
    (home / TEMPORARY / "shop" / "logs.json").write_text("[]")
