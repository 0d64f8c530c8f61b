"""A home with the databases of Kiro CLI (both of its tables) and of Amazon Q."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.adapters.histories.homes.databases import write_database

KIRO = Path(".local/share/kiro-cli/data.sqlite3")
AMAZON_Q = Path(".local/share/amazon-q/data.sqlite3")
TOKEN = "aoa" + "AAAAAGword"

SCHEMA = """
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
"""
SCHEMA_2 = f"""{SCHEMA}
CREATE TABLE conversations_v2 (
  key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id)
);
"""
PUT_TOKEN = ("INSERT INTO auth_kv VALUES (?, ?)", ("codewhisperer:odic:token", TOKEN))
PUT = "INSERT INTO conversations VALUES (?, ?)"
PUT_2 = "INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)"


def prompt(text: str, at: str | None) -> dict[str, Any]:
    env = {"env_state": {"operating_system": "linux", "current_working_directory": "/src/elsewhere"}}
    return {"env_context": env, "content": {"Prompt": {"prompt": text}}, "timestamp": at, "images": None}


def results(*each: dict[str, Any], at: str | None = None, kind: str = "ToolUseResults") -> dict[str, Any]:
    return {"content": {kind: {"tool_use_results": list(each)}}, "timestamp": at}


def ran(call: str, exit_status: str | None, stdout: str, status: str = "Success") -> dict[str, Any]:
    """The result of a command; ``status`` only says that the tool itself ran."""
    content = {"exit_status": exit_status, "stdout": stdout, "stderr": ""}
    return {"tool_use_id": call, "content": [{"Json": content}], "status": status}


def said(text: str, message_id: str) -> dict[str, Any]:
    return {"Response": {"message_id": message_id, "content": text}}


def uses(text: str, message_id: str, *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"id": call, "name": name, "args": args, "orig_name": name} for call, name, args in calls]
    return {"ToolUse": {"message_id": message_id, "content": text, "tool_uses": listed}}


def conversation(conversation_id: str, *turns: Any, summary: str | None = None) -> str:
    latest = None if summary is None else [summary, {"request_id": "r"}]
    return json.dumps({"conversation_id": conversation_id, "history": list(turns), "latest_summary": latest})


def turn(user: dict[str, Any], assistant: dict[str, Any], ended_ms: int | None = None) -> dict[str, Any]:
    metadata = None if ended_ms is None else {"stream_end_timestamp_ms": ended_ms}
    return {"user": user, "assistant": assistant, "request_metadata": metadata}


SHOP = conversation(
    "c-shop",
    turn(
        prompt("why is the basket empty?", "2026-06-01T14:00:00.250+02:00"),
        uses("Let me run the tests.", "m1", ("t1", "execute_bash", {"command": "pytest -q"})),
        ended_ms=1780315204000,
    ),
    turn(
        results(ran("t1", "1", "1 failed")),
        uses("", "m2", ("t2", "fs_read", {"path": "basket.py"}), ("t3", "execute_bash", {"command": "ls"})),
    ),
    turn(
        results(
            {"tool_use_id": "t2", "content": [{"Text": "def basket(): ..."}], "status": "Success"}, ran("t3", "0", "a")
        ),
        said("The cookie is read too early.", "m3"),
        ended_ms=1780315260000,
    ),
    turn(prompt("", None), said("", "m4")),
    turn(
        prompt("run it again", None),
        uses("", "m5", ("t4", "execute_bash", {"command": "make"}), ("t5", "execute_bash", {"command": "rm -r out"})),
    ),
    turn(
        results(
            ran("t4", "exit status: 2", "no rule"),
            {"tool_use_id": "t5", "content": [{"Text": "Tool use was cancelled by the user"}], "status": "Error"},
            kind="CancelledToolUses",
        ),
        said("Stopped.", "m6"),
    ),
    summary="The basket is kept in a cookie.",
)
"""Turns with two times, of which the one with an offset is read. A turn without a time has that of the one before."""

OLD = conversation(
    "c-old",
    [prompt("which port?", "2026-05-01T08:00:00Z"), said("Port 8421.", "o1")],
)
"""A conversation of before migration 7, in which a turn is a pair."""


def build(home: Path) -> None:
    build_kiro(home)
    build_amazon_q(home)


def build_kiro(home: Path) -> None:
    again = conversation("c-shop", turn(prompt("an older copy", "2026-05-30T08:00:00Z"), said("of it", "x")))
    write_database(
        home / KIRO,
        SCHEMA_2,
        [
            PUT_TOKEN,
            (PUT, ("/src/shop", again)),
            (PUT, ("/src/old", OLD)),
            (PUT, ("/src/torn", '{"conversation_id": "c-torn", "history": [')),
            (PUT_2, ("/src/api", "c-api", conversation("c-api"), 1780300000000, 1780300000000)),
        ],
        [(PUT_2, ("/src/shop", "c-shop", SHOP, 1780315200000, 1780315300000))],
    )


def build_amazon_q(home: Path) -> None:
    write_database(home / AMAZON_Q, SCHEMA, [PUT_TOKEN, (PUT, ("/src/old", OLD.replace("c-old", "q-old")))])
