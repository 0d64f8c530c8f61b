"""A home with Cursor's database, a window's own database with a chat, and the agent's transcripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.adapters.histories.homes.databases import write_database

USER = Path(".config/Cursor/User")
DATABASE = USER / "globalStorage/state.vscdb"
WINDOW = USER / "workspaceStorage/4f1c"
TRANSCRIPTS = Path(".cursor/projects/src-shop/agent-transcripts")
NOON = 1_780_315_200_000

SCHEMA = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""
PUT = "INSERT INTO cursorDiskKV VALUES (?, ?)"
PUT_ITEM = "INSERT INTO ItemTable VALUES (?, ?)"
TOKEN = "eyJ" + "hbGciOiJIUzI1NiJ9.word"


def bubble(bubble_id: str, kind: int, text: str = "", at: int | None = 0, **more: Any) -> dict[str, Any]:
    created = {} if at is None else {"createdAt": f"2026-06-01T12:00:{at:02}Z"}
    return {"_v": 3, "bubbleId": bubble_id, "type": kind, "text": text, **created, **more}


def tool(call: str, name: str, given: Any, status: str, result: Any, *, at: int) -> dict[str, Any]:
    written = None if result is None else json.dumps(result)
    data = {"name": name, "toolCallId": call, "status": status, "params": json.dumps(given), "result": written}
    return bubble(f"b-{call}", 2, at=at, capabilityType=15, toolFormerData=data)


def composer(composer_id: str, bubbles: list[dict[str, Any]], **more: Any) -> list[tuple[str, Any]]:
    headers = [{"bubbleId": each["bubbleId"], "type": each["type"]} for each in bubbles]
    data = {"composerId": composer_id, "createdAt": NOON, "fullConversationHeadersOnly": headers, **more}
    rows = [(f"composerData:{composer_id}", json.dumps(data))]
    return rows + [(f"bubbleId:{composer_id}:{each['bubbleId']}", json.dumps(each)) for each in bubbles]


SHOP = composer(
    "k-shop",
    [
        bubble("z1", 1, "why is the basket empty?", at=1),
        bubble("a2", 2, "I think about it.", at=2, capabilityType=30, thinking={"text": "hm"}),
        tool(
            "tool_1",
            "run_terminal_command_v2",
            {"command": "pytest -q"},
            "completed",
            {"output": "1 failed", "exitCode": 1, "rejected": False},
            at=3,
        ),
        tool(
            "tool_2",
            "run_terminal_command_v2",
            {"command": "ls"},
            "completed",
            {"output": "a", "exitCode": 0, "rejected": False},
            at=4,
        ),
        tool(
            "tool_3",
            "run_terminal_command_v2",
            {"command": "rm -r out"},
            "completed",
            {"output": "", "rejected": True},
            at=5,
        ),
        tool("tool_4", "read_file_v2", {"targetFile": "gone.py"}, "error", None, at=6),
        tool("tool_5", "grep", {"pattern": "x"}, "loading", None, at=7),
        bubble("b8", 2, "The cookie is read too early.", at=8),
        bubble("b9", 1, "/summarize", at=9, capabilityType=22),
        bubble("b10", 1, "keep the basket in a cookie", at=None),
    ],
)
"""A chat whose list gives the order of bubbles, unlike their keys; the last bubble has no time."""
SPARE = [(f"bubbleId:k-shop:{name}", value) for name, value in (("null", None), ("torn", '{"_v":3,'))]
SECOND = composer("k-api", [bubble("q1", 1, "which port?", at=30), bubble("q2", 2, "Port 8421.", at=31)])
TASK = [("bubbleId:task-call_1\nfc_2:x1", json.dumps(bubble("x1", 1, "look into cookies", at=1)))]
IN_WINDOW = composer("k-old", [bubble("o1", 1, "where do the logs go?", at=40)])


def build(home: Path) -> None:
    headers = {
        "allComposers": [
            {"composerId": "k-shop", "workspaceIdentifier": {"uri": {"fsPath": "/src/shop"}}},
            {"composerId": "k-api", "workspaceIdentifier": {"uri": {"fsPath": "/src/api"}}},
        ]
    }
    items = [
        (PUT_ITEM, ("cursorAuth/accessToken", TOKEN)),
        (PUT_ITEM, ("composer.composerHeaders", json.dumps(headers))),
    ]
    older = [(PUT, row) for row in SHOP + SPARE + TASK]
    write_database(home / DATABASE, SCHEMA, [*items, *older], [(PUT, row) for row in SECOND])
    window = {"allComposers": [{"composerId": "k-old"}]}
    rows = [(PUT_ITEM, ("composer.composerData", json.dumps(window))), *((PUT, row) for row in IN_WINDOW)]
    write_database(home / WINDOW / "state.vscdb", SCHEMA, rows)
    (home / WINDOW / "workspace.json").write_text(json.dumps({"folder": "file:///src/my%20old"}), "utf-8")


TRANSCRIPT = [
    {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nwhy is the basket empty?\n</user_query>"}]},
    },
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "[REDACTED]"}]}},
    {
        "role": "assistant",
        "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"command": "pytest"}}]},
    },
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "The cookie is read too early."}]}},
]


def build_transcripts(home: Path) -> None:
    """Write transcripts, which are read if the database is missing."""
    path = home / TRANSCRIPTS / "k-shop" / "k-shop.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in TRANSCRIPT), "utf-8")
