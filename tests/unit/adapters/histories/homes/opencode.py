"""A home with opencode's database, in the tables of versions 1.2 and 2, and with the files from before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.unit.adapters.histories.homes.databases import write_database

FOLDER = Path(".local/share/opencode")
DATABASE = FOLDER / "opencode.db"
STORAGE = FOLDER / "storage"
NOON = 1_780_315_200_000
"""2026-06-01T12:00:00Z"""

SCHEMA = """
CREATE TABLE account (id TEXT PRIMARY KEY, access_token TEXT);
CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT NOT NULL, title TEXT,
  version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER
);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT
);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_session_idx ON part (session_id);
"""
SCHEMA_2 = """
CREATE TABLE session_v2 (
  id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER,
  time_updated INTEGER
);
CREATE TABLE session_message (
  id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT
);
"""


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(call: str, name: str, given: Any, status: str, exit_code: int | None = None, **state: Any) -> dict[str, Any]:
    metadata = {} if exit_code is None else {"metadata": {"exit": exit_code}}
    return {
        "type": "tool",
        "tool": name,
        "callID": call,
        "state": {"status": status, "input": given, **metadata, **state},
    }


class Session:
    """One session, and its messages as rows or as files."""

    def __init__(
        self, session_id: str, directory: str, *, parent: str | None = None, revert: str | None = None
    ) -> None:
        self.id, self.directory, self.parent, self.revert = session_id, directory, parent, revert
        self.messages: list[tuple[str, dict[str, Any], list[Any]]] = []

    def add(self, message_id: str, role: str, *parts: Any, at: int) -> Session:
        self.messages.append((message_id, {"role": role, "time": {"created": NOON + at}}, list(parts)))
        return self

    def rows(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        revert = None if self.revert is None else json.dumps({"messageID": self.revert})
        values = (self.id, "p", self.parent, "slug", self.directory, "title", "1.2.0", revert, NOON, NOON)
        yield "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values
        for message_id, data, parts in self.messages:
            at = data["time"]["created"]
            yield "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message_id, self.id, at, at, json.dumps(data))
            for place, part in enumerate(parts):
                written = part if isinstance(part, str) else json.dumps(part)
                key = f"prt_{message_id}_{place:03}"
                yield "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (key, message_id, self.id, at, at, written)

    def files(self) -> Iterator[tuple[str, Any]]:
        info: dict[str, Any] = {
            "id": self.id,
            "directory": self.directory,
            "parentID": self.parent,
            "time": {"created": NOON},
        }
        if self.revert is not None:
            info["revert"] = {"messageID": self.revert}
        yield f"session/p/{self.id}.json", info
        for message_id, data, parts in self.messages:
            yield f"message/{self.id}/{message_id}.json", {"id": message_id, "sessionID": self.id, **data}
            for place, part in enumerate(parts):
                written = part if isinstance(part, str) else {"id": f"prt_{place}", **part}
                yield f"part/{message_id}/prt_{place:03}.json", written


SHOP = (
    Session("ses_shop", "/src/shop", revert="msg_6")
    .add("msg_1", "user", text("why is the basket empty?"), text("<file>…</file>", synthetic=True), at=0)
    .add(
        "msg_2",
        "assistant",
        {"type": "step-start"},
        {"type": "reasoning", "text": "I wonder."},
        tool("k1", "bash", {"command": "pytest -q"}, "completed", 1, output="1 failed"),
        tool("k2", "bash", {"command": "ls"}, "completed", 0, output="a"),
        tool("k3", "read", {"filePath": "/src/shop/gone.py"}, "error", error="File not found"),
        tool("k4", "bash", {"command": "sleep 1"}, "running"),
        text("The cookie is read too early."),
        "no JSON",
        at=1000,
    )
    .add("msg_3", "user", text("keep the basket in a cookie"), at=2000)
    .add("msg_4", "assistant", text("Done."), at=3000)
    .add("msg_6", "user", text("this was taken back"), at=4000)
    .add("msg_7", "assistant", text("and so was this"), at=5000)
)
CHILD = Session("ses_child", "/src/shop", parent="ses_shop").add("msg_8", "user", text("look into cookies"), at=1500)
WAL = Session("ses_wal", "/src/api").add("msg_9", "user", text("which port?"), at=9000)
FILES = (
    Session("ses_files", "/src/old")
    .add("msg_a", "user", text("where do the logs go?"), at=-9000)
    .add("msg_b", "assistant", tool("k9", "bash", {"command": "ls logs"}, "completed", 2, output="no"), at=-8000)
)


def second_generation() -> Iterator[tuple[str, tuple[Any, ...]]]:
    for session in ("ses_shop", "ses_two"):
        values = (session, "p", None, "/src/shop", "title", None, NOON, NOON)
        yield "INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values
    content = [
        {"type": "text", "text": "On 8421."},
        {"type": "tool", "id": "k7", "name": "bash", "state": FAILED["state"]},
    ]
    messages = (
        ("msg_1", "ses_shop", "user", {"text": "why is the basket empty?"}),
        ("msg_c", "ses_two", "user", {"text": "and the second generation?"}),
        ("msg_d", "ses_two", "assistant", {"content": content}),
        ("msg_e", "ses_two", "synthetic", {"text": "of the program"}),
    )
    for seq, (message_id, session, kind, data) in enumerate(messages):
        message = (message_id, session, kind, seq, NOON + 7000, NOON, json.dumps(data))
        yield "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", message


FAILED = tool("k7", "bash", {"command": "false"}, "completed", 1, output="")


def write_files(home: Path, *sessions: Session) -> None:
    for session in sessions:
        for name, value in session.files():
            path = home / STORAGE / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value), "utf-8")


def build(home: Path) -> None:
    """Write a database, and files with a session that moved to the database and one that an update lost."""
    rows = [*SHOP.rows(), *CHILD.rows(), *second_generation()]
    write_database(home / DATABASE, SCHEMA + SCHEMA_2, rows, list(WAL.rows()))
    write_files(home, SHOP, FILES)
