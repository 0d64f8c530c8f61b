"""What is answered to events, as JSON: the one place that knows these shapes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from kiro_learn.errors import InvalidRequest, KiroLearnError


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
