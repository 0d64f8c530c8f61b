"""Homes with the files of other memories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.adapters.histories.homes.databases import write_database

NOON = 1_780_315_200_000
CLAUDE_MEM = Path(".claude-mem/claude-mem.db")
CLAUDE_MEM_SCHEMA = """
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY, content_session_id TEXT UNIQUE, memory_session_id TEXT UNIQUE, project TEXT, user_prompt TEXT
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT,
  facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER,
  content_hash TEXT, created_at TEXT, created_at_epoch INTEGER
);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT, investigated TEXT, learned TEXT,
  completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, created_at TEXT,
  created_at_epoch INTEGER
);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at TEXT,
  created_at_epoch INTEGER
);
"""
CLAUDE_MEM_OLD = (
    CLAUDE_MEM_SCHEMA.replace("content_session_id", "claude_session_id")
    .replace("memory_session_id", "sdk_session_id")
    .replace("  content_hash TEXT,", " ")
)
OBSERVATION = {
    "id": 1,
    "memory_session_id": "m-1",
    "project": "shop",
    "text": None,
    "type": "bugfix",
    "title": "Basket is empty after a restart",
    "subtitle": "The cookie is read too early",
    "facts": json.dumps(["The cookie is set in basket.py", "Restart clears the basket"]),
    "narrative": "The basket was read before the cookie was set.",
    "concepts": json.dumps(["problem-solution"]),
    "files_read": json.dumps(["basket.py"]),
    "files_modified": json.dumps(["cookie.py"]),
    "prompt_number": 1,
    "content_hash": "ab12",
    "created_at": "2026-06-01T12:00:00Z",
    "created_at_epoch": NOON,
}
PLAIN = {**OBSERVATION, "id": 2, "title": None, "narrative": None, "text": "Port 8421 is taken.", "facts": "no JSON"}
EMPTY = {**OBSERVATION, "id": 3, "title": None, "narrative": "", "text": "", "facts": "[]", "subtitle": None}
SUMMARY = {
    "id": 1,
    "memory_session_id": "m-1",
    "project": "shop",
    "request": "Find out why the basket is empty",
    "investigated": "basket.py",
    "learned": "The cookie is read too early.",
    "completed": "Read it later.",
    "next_steps": "Write a test.",
    "created_at_epoch": NOON + 1000,
}
PROMPT = {
    "id": 1,
    "content_session_id": "5c0e",
    "prompt_number": 1,
    "prompt_text": "why is the basket empty?",
    "created_at_epoch": NOON,
}
SESSION = {"id": 1, "content_session_id": "5c0e", "memory_session_id": "m-1", "project": "shop"}


def put(table: str, row: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    names = ", ".join(row)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())  # noqa: S608  # names of this file


def renamed(row: dict[str, Any]) -> dict[str, Any]:
    names = {"content_session_id": "claude_session_id", "memory_session_id": "sdk_session_id"}
    return {names.get(name, name): value for name, value in row.items() if name != "content_hash"}


def build_claude_mem(home: Path, *, is_old: bool = False) -> None:
    older = [
        ("sdk_sessions", SESSION),
        ("user_prompts", PROMPT),
        ("observations", OBSERVATION),
        ("observations", EMPTY),
    ]
    newest = [("observations", PLAIN), ("session_summaries", SUMMARY)]
    rows = [[put(table, renamed(row) if is_old else row) for table, row in each] for each in (older, newest)]
    write_database(home / CLAUDE_MEM, CLAUDE_MEM_OLD if is_old else CLAUDE_MEM_SCHEMA, *rows)


CLAUDE_MEM_EXPORT = {
    "observations": [OBSERVATION, PLAIN],
    "sessions": [SESSION],
    "summaries": [SUMMARY],
    "prompts": [PROMPT],
    "totalObservations": 2,
}

KIRO_MEMORY: list[dict[str, Any]] = [
    {"_meta": {"version": "2.5.0", "counts": {"observations": 3}}},
    {
        "_type": "observation",
        "id": 7,
        "memory_session_id": "sdk-1",
        "project": "shop",
        "type": "constraint",
        "title": "No third-party cookies",
        "text": "The basket uses first-party cookies alone.",
        "facts": json.dumps({"severity": "hard", "reason": "browsers block them"}),
        "concepts": "security, api",
        "files_read": "basket.py, cookie.py",
        "content_hash": "cd34",
        "created_at_epoch": NOON,
    },
    {
        "_type": "observation",
        "project": "shop",
        "type": "file-read",
        "title": "Read basket.py",
        "narrative": "",
        "text": "Input: {}",
        "created_at_epoch": NOON,
    },
    {
        "_type": "summary",
        "session_id": "k-1",
        "project": "shop",
        "request": "a request",
        "learned": "it is late",
        "created_at_epoch": NOON,
    },
    {
        "_type": "prompt",
        "content_session_id": "k-1",
        "prompt_number": 1,
        "project": "shop",
        "prompt_text": "why?",
        "created_at_epoch": NOON,
    },
    {"_type": "link", "project": "shop"},
]

BASIC_MEMORY = """---
title: Basket
type: note
permalink: notes/basket
tags:
- shop
- cookies
created: 2026-06-01T12:00:00+00:00
---

# Basket

Some prose about it.

## Observations
- [decision] Keep the basket in a first-party cookie #cookies (since 2026)
- [fact] The cookie is read in basket.py
- [ ] a task is none
- no category

```markdown
- [fact] within a fence it is none
```

## Relations
- depends_on [[Cookie Store]]
- relates to [[Session]] (loosely)
"""

SERVER_MEMORY: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "basket",
        "entityType": "component",
        "observations": ["is kept in a cookie", "runs on port 8421", "", 3],
    },
    {"type": "entity", "name": "cookie", "entityType": "concept", "observations": []},
    {"type": "relation", "from": "basket", "to": "cookie", "relationType": "is kept in"},
    {"type": "thing"},
]

MEM0_SCHEMA = """
CREATE TABLE history (
  id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME,
  updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT
);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, created_at DATETIME);
"""
MEM0 = [
    ("h1", "m1", None, "Likes tabs", "ADD", "2026-06-01T12:00:00-07:00", None, 0),
    ("h2", "m2", None, "The port is 8421", "ADD", "2026-06-01 19:00:01", None, 0),
    ("h3", "m1", "Likes tabs", "Likes spaces", "UPDATE", "2026-06-01T12:00:00-07:00", "2026-06-02T12:00:00-07:00", 0),
    ("h4", "m2", "The port is 8421", None, "DELETE", "2026-06-01T12:00:01-07:00", "2026-06-03T12:00:00-07:00", 1),
    ("h5", "m3", None, "Deploys on Fridays", "ADD", "2026-06-04T12:00:00-07:00", None, 0),
]


def build_mem0(home: Path) -> None:
    insert = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)"
    write_database(
        home / ".mem0/history.db", MEM0_SCHEMA, [(insert, row) for row in MEM0[:3]], [(insert, row) for row in MEM0[3:]]
    )


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def build_claude_mem_export(home: Path) -> None:
    (home / "export.json").write_text(json.dumps(CLAUDE_MEM_EXPORT), "utf-8")


def build_kiro_memory(home: Path) -> None:
    write_lines(home / "export.jsonl", KIRO_MEMORY)


def build_basic_memory(home: Path) -> None:
    note = home / "basic-memory" / "notes" / "basket.md"
    note.parent.mkdir(parents=True)
    note.write_text(BASIC_MEMORY, "utf-8")


def build_server_memory(home: Path) -> None:
    write_lines(home / "memory.jsonl", SERVER_MEMORY)
