"""What is answered to events, as JSON: the one place that knows these shapes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.event import Event, JsonBody, MessageBody
from kiro_learn.model.moment import to_text

MOST_TOLD = 2_000
"""Characters of an event that a list has."""

TELLING = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")
"""Of a tool's input, the first of these that is there says most."""


def stored_answer(event_id: str, stored: bool | Literal["pending"]) -> dict[str, Any]:
    """What became of one event."""
    return {"event_id": event_id, "stored": stored}


def retrieval_answer(
    context: str, record_ids: Iterable[str], *, latency_ms: float, degraded: Iterable[str]
) -> dict[str, Any]:
    """The result of a recall, as part of the answer to a prompt."""
    return {
        "context": context,
        "records": list(record_ids),
        "latency_ms": latency_ms,
        "degraded": list(degraded),
    }


def event_answer(event: Event) -> dict[str, Any]:
    """An event in a list: what it says, in short, and of a tool use which tool."""
    text, tool = _said(event)
    return {
        "event_id": event.event_id,
        "namespace": event.namespace,
        "session_id": event.session_id,
        "kind": event.kind.value,
        "at": to_text(event.valid_time),
        "agent": event.source.surface,
        "tool": tool,
        "text": text[:MOST_TOLD],
        "is_cut": len(text) > MOST_TOLD,
    }


def _said(event: Event) -> tuple[str, str | None]:
    """The text of an event, and the tool that it is a use of."""
    if isinstance(event.body, MessageBody):
        return "\n".join(f"{turn.role}: {turn.content}" for turn in event.body.turns), None
    if not isinstance(event.body, JsonBody):
        return event.body.content, None
    use = event.body.data if isinstance(event.body.data, dict) else {"tool_input": event.body.data}
    given, tool = use.get("tool_input", use), use.get("tool_name")
    told = next((given[name] for name in TELLING if name in given), given) if isinstance(given, dict) else given
    text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    return text, tool if isinstance(tool, str) else None


def refusal_answer(error: str, *, hint: str = "", details: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """The one shape of every refusal."""
    value: dict[str, Any] = {"error": error}
    if hint:
        value["hint"] = hint
    if details:
        value["details"] = [{"path": path, "problem": problem} for path, problem in details]
    return value


def error_refusal(error: KiroLearnError) -> dict[str, Any]:
    """The refusal of what one of our own errors ended."""
    if isinstance(error, InvalidRequest):
        return refusal_answer("validation failed", hint=error.hint, details=error.problems)
    return refusal_answer(str(error), hint=error.hint)


def write_lines(values: Iterable[dict[str, Any]]) -> bytes:
    """NDJSON, in ASCII."""
    return b"".join(json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n" for value in values)
