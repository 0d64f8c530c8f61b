"""Small answers of the daemon, and the two terminals on which every screen is tried."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from kiro_learn.client.address import build_id
from kiro_learn.frontends.cli.terminal import Terminal

PLAIN = Terminal()
COLOURED = Terminal(has_colours=True)
ASCII = Terminal(has_unicode=False)
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)  # a Friday


def without_escapes(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]


def record(**changes: Any) -> dict[str, Any]:
    return {
        "record_id": "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2",
        "namespace": "/actor/ana/project/abc/",
        "strategy": "extractive",
        "title": "Refresh tokens before the expiry check",
        "summary": "Login dropped after 15 minutes because the expiry check ran first.",
        "facts": ["Swapped the two calls in refreshSession(); 42 tests pass"],
        "concepts": ["auth", "token"],
        "files_touched": ["src/auth/session.ts"],
        "observation_type": "error",
        "knowledge_type": "decision",
        "source_event_ids": ["01JD3V8M2N5R7T9WXYZ0K7Q4M1", "01JD3V8M2N5R7T9WXYZ0K7Q4M2"],
        "created_at": "2026-11-16T10:09:00.000000Z",
        **changes,
    }


def history_of(*replacements: dict[str, Any], **said: Any) -> dict[str, Any]:
    """The history of ``record``."""
    return {"record_id": record()["record_id"], **said, "replacements": list(replacements)}


def replacement(**changes: Any) -> dict[str, Any]:
    """A replacement of two memories by ``record``."""
    return {
        "replacement_id": "01JD3V8M2N5R7T9WXYZ0K7Q4M3",
        "reason": "merged",
        "replaced_at": "2026-11-17T16:50:00.000000Z",
        "replacing": ["mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2"],
        "replaced": [
            record(record_id="mr_01JD3V8M2N5R7T9WXYZ0A81KFE"),
            record(
                record_id="mr_01JD3V8M2N5R7T9WXYZ00QX2RB",
                title="Expiry check must follow the refresh, or the first request after 15 minutes is refused",
                created_at="2026-11-04T16:44:00.000000Z",
            ),
        ],
        **changes,
    }


def usage(**changes: Any) -> dict[str, Any]:
    return {
        "day": "2026-11-20",
        "calls": 0,
        "limit": 500,
        "is_spent": False,
        "failures": 0,
        "characters_in": 0,
        "characters_out": 0,
        "seconds": 0.0,
        "projects": [],
        **changes,
    }


def status(**changes: Any) -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "build": build_id(),
        "pid": 4127,
        "started_at": "2026-11-17T10:00:00.000000Z",
        "now": "2026-11-20T14:05:00.000000Z",
        "rss_bytes": 148_000_000,
        "learning": "extractive",
        "llm": {
            "strategy": "extractive",
            "name": "extractive",
            "reason": "as the settings say",
            "obstacle": None,
            "stands_in_for": None,
            "problem": None,
            "login": None,
            "warning": None,
            "usage": usage(),
        },
        "embedder": {"state": "ready", "model": "all-MiniLM-L6-v2", "dimensions": 384, "problem": None, "earlier": []},
        "reembedding": {"total": 0, "done": 0},
        "embeddings": {"total": 1204, "embedded": 1204, "set_aside": 0},
        "damaged": {"count": 0, "rows": []},
        "spool": {"is_drained": True, "problem_count": 0, "problems": []},
        "write_problem": "",
        "log_problem": "",
        "word_indexes": {"damaged": [], "rebuilt_count": 0, "problem": None},
        "projects": [],
        "waiting": {"event_count": 0, "size_bytes": 0, "parked_event_count": 0},
        "parked_cluster_count": 0,
        "recall": {
            "asked": 42,
            "told": 31,
            "silent": 11,
            "partial": 0,
            "latency_ms_p50": 12.0,
            "latency_ms_p95": 31.0,
            "mute_rankings": [],
        },
        "runs": [{"finished_at": "2026-11-20T14:03:00.000000Z", "record_count": 3, "problem": None}],
        "counts": {"total_memories": 1204, "total_events": 86_000, "total_projects": 9},
        **changes,
    }
