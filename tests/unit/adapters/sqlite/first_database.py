"""A database of the first kiro-learn: migrations 1 to 5, three events, three records and its index of words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from tests.unit.storage.builders import DAWN, MINE, OTHERS, event_id, record_id, vector

SOURCE = '{"surface":"kiro-cli","version":"0.9","client_id":"box"}'
EVENTS: list[dict[str, Any]] = [
    {
        "event_id": event_id(3),
        "session_id": "s1",
        "namespace": MINE,
        "kind": "prompt",
        "body_json": '{"type":"text","content":"héllo"}',
        "valid_time": "2026-04-01T10:00:00.000Z",
        "transaction_time": "2026-04-01T10:00:00.120Z",
        "source_json": SOURCE,
        "project_path": "/home/ann/w",
    },
    {
        "event_id": event_id(1),
        "parent_event_id": event_id(3),
        "session_id": "s1",
        "namespace": MINE,
        "kind": "tool_use",
        "body_json": '{"type":"json","data":{"tool_name":"x","n":[1,null]}}',
        "valid_time": "2026-04-01T12:00:00+02:00",
        "transaction_time": "2026-04-01T10:00:01.000Z",
        "source_json": SOURCE.replace("cli", "ide", 1),
        "content_hash": "sha256:" + "1" * 64,
    },
    {
        "event_id": "Z" * 26,
        "session_id": "s2",
        "namespace": OTHERS,
        "kind": "note",
        "body_json": '{"type":"message","turns":[{"role":"user","content":"a"}]}',
        "valid_time": "2026-04-02T09:30:00Z",
        "transaction_time": "2026-04-02T09:30:01.000Z",
        "source_json": SOURCE,
    },
]
RECORDS: list[dict[str, Any]] = [
    {
        "record_id": record_id(2),
        "namespace": MINE,
        "title": "Migrating users",
        "summary": "moved to uuid",
        "facts_json": '["ids are \\"uuid\\"","two\\nlines"]',
        "source_event_ids_json": f'["{event_id(3)}"]',
        "created_at": "2026-04-01T10:05:00.000Z",
        "concepts_json": '["schema"]',
        "files_touched_json": '["src/db.ts"]',
        "observation_type": "decision",
        "embedding": vector(2).tobytes(),
    },
    {
        "record_id": record_id(1),
        "namespace": MINE,
        "title": "Wrap up",
        "summary": "all done",
        "facts_json": "[]",
        "source_event_ids_json": f'["{event_id(1)}"]',
        "created_at": "2026-04-01T10:06:00.500Z",
        "observation_type": "session_summary",
    },
    {
        "record_id": record_id(3),
        "namespace": OTHERS,
        "title": "Elsewhere",
        "summary": "migrating too",
        "facts_json": json.dumps(["fact"] * 60),
        "source_event_ids_json": f'["{event_id(1)}"]',
        "created_at": "2026-04-01T10:07:00.000Z",
        "observation_type": "error",
    },
]


def fill(path: Path) -> None:
    database = apsw.Connection(str(path))
    migrate(database, MIGRATIONS[:5], utc_now=lambda: DAWN)
    for event in EVENTS:
        insert(database, "events", {"actor_id": "ann", "schema_version": 1} | event)
    for values in RECORDS:
        insert(database, "memory_records", {"strategy": "llm-summary"} | values)
        words = {name: values[name] for name in ("record_id", "namespace", "title", "summary")}
        insert(database, "memory_records_fts", words | {"facts_text": "facts as text"})
    database.execute("CREATE VIRTUAL TABLE memory_records_fts_vocab USING fts5vocab (memory_records_fts, 'row')")
    database.close()


def insert(database: apsw.Connection, table: str, values: dict[str, Any]) -> None:
    marks = ", ".join(f":{name}" for name in values)
    database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", values)  # noqa: S608  # names of ours
