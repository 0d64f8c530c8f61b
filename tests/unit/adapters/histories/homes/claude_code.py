"""A home with sessions of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROJECT = Path(".claude/projects/-src-shop")
SESSION = "5c0e1f2a-0000-4000-8000-000000000001"


def line(kind: str, number: int, parent: int | None, **fields: Any) -> bytes:
    own = {
        "uuid": f"b{number}", "parentUuid": None if parent is None else f"b{parent}", "sessionId": SESSION,
        "cwd": "/src/shop", "timestamp": f"2026-09-02T08:00:{number:02}.120Z",
    }  # fmt: skip  # as short as it gets
    return json.dumps({"type": kind, **own, **fields}, ensure_ascii=False).encode() + b"\n"


def user(number: int, parent: int | None, content: Any, **fields: Any) -> bytes:
    return line("user", number, parent, message={"role": "user", "content": content}, **fields)


def reply(
    number: int, parent: int, of: str, *blocks: dict[str, Any], stop_reason: str | None = None, **fields: Any
) -> bytes:
    message = {"id": of, "role": "assistant", "content": list(blocks), "stop_reason": stop_reason}
    return line("assistant", number, parent, message=message, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(number: int, parent: int, call_id: str, content: Any, *, fails: bool = False, **fields: Any) -> bytes:
    return user(
        number,
        parent,
        [{"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": fails}],
        **fields,
    )


QUESTIONS = [{"question": "Which cache?", "options": [{"label": "Redis"}, {"label": "None"}]}]
ANSWERED = {"questions": QUESTIONS, "answers": {"Which cache?": "Redis"}}
TURN = (
    user(1, None, "why is the basket\u2028empty?"),
    reply(2, 1, "m1", text("I run")),
    reply(3, 2, "m1", text("I run the tests.")),
    reply(4, 3, "m1", call("t1", command="pytest -q")),
    reply(5, 4, "m1", call("t2", command="ls")),
    result(6, 5, "t2", "a b", toolUseResult={"stdout": "a b", "stderr": ""}),
    result(7, 4, "t1", "Exit code 1\n1 failed", fails=True, toolUseResult="Error: Exit code 1"),
    reply(8, 7, "m2", call("t3", "AskUserQuestion", questions=QUESTIONS)),
    result(9, 8, "t3", 'User has answered your questions: "Which cache?"="Redis".', toolUseResult=ANSWERED),
    reply(10, 9, "m3", text("It is kept in Redis now."), stop_reason="end_turn"),
    line("system", 11, 10, subtype="turn_duration"),
)
REST = (
    line("system", 12, None, subtype="compact_boundary", logicalParentUuid="b11"),
    user(13, 12, "This session is being continued", isCompactSummary=True),
    user(14, 13, "<command-name>/review</command-name><command-args>the cart alone</command-args>"),
    line("queue-operation", 15, None, operation="enqueue", content="and its color"),
    line("hologram", 16, None),
    reply(17, 14, "m4", text("The cart is sound.")),
)
REDO = (user(18, 17, "paint it blue"), reply(19, 18, "m5", text("Blue.")), user(20, 17, "paint it green"))


def build(home: Path) -> None:
    """Write a session with a compaction and a redo, a sub-agent's session, and one that repeats the first."""
    folder = home / PROJECT
    (folder / SESSION / "subagents").mkdir(parents=True)
    session = b"".join((*TURN, TURN[0], *REST, *REDO))
    (folder / f"{SESSION}.jsonl").write_bytes(session + b'{"type": "user", "uu')
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    child = (
        user(30, None, "you search", **side),
        reply(31, 30, "m6", call("t4", "Grep", pattern="cart"), **side),
        result(32, 31, "t4", "nothing", **side),
        reply(33, 32, "m7", text("There is no cart."), **side),
    )
    (folder / SESSION / "subagents" / "agent-a1.jsonl").write_bytes(b"".join(child))
    resumed = b"".join((*TURN, user(40, 11, "and tomorrow?"))).replace(b"\n", b"\r\n")
    (folder / "5c0e1f2a-0000-4000-8000-000000000002.jsonl").write_bytes(b"\xef\xbb\xbf" + resumed)
