"""A home with sessions of Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DAY = Path(".codex/sessions/2026/09/02")
SHOP, FORK, CHILD, OLD = (f"01a0000{number}-0000-7000-8000-000000000000" for number in range(1, 5))

Item = tuple[str, dict[str, Any]]


def meta(thread: str, **fields: Any) -> Item:
    return "session_meta", {"id": thread, "session_id": SHOP, "cwd": "/src/shop", "thread_source": "user", **fields}


def said(role: str, *texts: str) -> Item:
    kind = "output_text" if role == "assistant" else "input_text"
    return "response_item", {
        "type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts],
    }  # fmt: skip  # as short as it gets


def call(call_id: str, name: str, arguments: Any, **fields: Any) -> Item:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return "response_item", {"type": "function_call", "name": name, "arguments": given, "call_id": call_id, **fields}


def output(call_id: str, value: Any, kind: str = "function_call_output") -> Item:
    return "response_item", {"type": kind, "call_id": call_id, "output": value}


def event(kind: str, **fields: Any) -> Item:
    return "event_msg", {"type": kind, **fields}


PATCH = "*** Begin Patch\n*** Update File: basket.py\n*** End Patch"
QUESTION = {"questions": [{"id": "cache", "question": "Which cache?", "options": [{"label": "Redis"}]}]}
FIRST: list[Item] = [
    meta(SHOP),
    said("developer", "be brief"),
    said("user", "# AGENTS.md instructions for /src/shop", "<environment_context>…</environment_context>"),
    said("user", "fix the basket"),
    event("user_message", message="fix the basket"),
    said("assistant", "I run the tests."),
    call("c1", "exec_command", {"cmd": "pytest -q"}),
    output("c1", "Process exited with code 1\nOutput:\n1 failed"),
    call("c2", "shell", {"command": ["bash", "-lc", "make"]}),
    output("c2", json.dumps({"output": "no rule", "metadata": {"exit_code": 2}})),
    ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "c3"}),
    output("c3", {"content": "Success. Updated the following files", "success": True}, "custom_tool_call_output"),
    call("c4", "find", {"q": "basket"}, namespace="mcp__wiki__"),
    output("c4", {"body": "no such page", "success": False}),
]
THEN: list[Item] = [
    call("c5", "request_user_input", QUESTION),
    output("c5", json.dumps({"answers": {"cache": {"answers": ["Redis"]}}})),
    said("assistant", "The basket is kept in Redis now."),
    event("task_complete", last_agent_message="The basket is kept in Redis now."),
    ("turn_context", {"cwd": "/src/shop/web"}),
    said("user", "and color it blue"),
    said("assistant", "Blue."),
    event("thread_rolled_back", num_turns=1),
    ("compacted", {"message": "The basket was mended.", "replacement_history": []}),
    said("user", "and color it green"),
    call("c6", "exec_command", {"cmd": "sleep 9"}),
    output("nowhere", "lost"),
]


def lines(items: list[Item], minute: int = 0) -> bytes:
    rows = [
        {"timestamp": f"2026-09-02T08:{minute:02}:{place:02}.1Z", "ordinal": place, "type": kind, "payload": payload}
        for place, (kind, payload) in enumerate(items)
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def build(home: Path) -> None:
    """Write a session and its fork with the same beginning, a sub-agent's, one without items, and archived ones."""
    (home / DAY).mkdir(parents=True)
    (home / DAY / f"rollout-2026-09-02T08-00-00-{SHOP}.jsonl").write_bytes(
        lines([*FIRST, *THEN]) + b'{"timestamp": "20'
    )
    forked = [meta(FORK, forked_from_id=SHOP), *FIRST, said("user", "start again"), said("assistant", "Begun.")]
    (home / DAY / f"rollout-2026-09-02T09-00-00-{FORK}.jsonl").write_bytes(lines(forked, 30))
    child = [meta(CHILD, parent_thread_id=SHOP, agent_role="searcher"), said("user", "you search")]
    child += [call("c1", "exec_command", {"cmd": "grep -r cart"}), output("c1", "nothing"), said("assistant", "None.")]
    (home / DAY / f"rollout-2026-09-02T09-30-00-{CHILD}.jsonl").write_bytes(lines(child, 40))
    archived = home / ".codex" / "archived_sessions"
    archived.mkdir()
    old = [meta(OLD), event("user_message", message="which port?"), event("agent_message", message="8080.")]
    (archived / f"rollout-2026-01-01T00-00-00-{OLD}.jsonl").write_bytes(lines(old, 50))
    (archived / f"rollout-2026-01-01T00-00-00-{OLD}.jsonl.zst").write_bytes(b"(\xb5/\xfd")
    (archived / f"rollout-2025-12-01T00-00-00-{OLD}.jsonl.zst").write_bytes(b"(\xb5/\xfd")
    memories = [meta("01a00009", thread_source="memory_consolidation"), said("user", "consolidate")]
    (home / DAY / "rollout-2026-09-02T10-00-00-01a00009.jsonl").write_bytes(lines(memories))
