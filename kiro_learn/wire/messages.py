"""Events, records and captures as JSON: the only place that knows their format."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import attrs
import cattrs

from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.event import (
    MAX_BODY_BYTES,
    MOST_BYTES_OF_WEIGHT,
    Body,
    Event,
    JsonBody,
    MessageBody,
    TextBody,
    body_bytes,
    body_weight,
)
from kiro_learn.model.ids import to_text
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FeedbackCounts
from kiro_learn.wire.structuring import new_converter, problem_at, structure, structure_at_once

MAX_JSON_DEPTH = 200
"""The deepest nesting of an event's JSON, so that later code may walk or write it by recursion within Python's
limit."""

NESTED = frozenset({"source", "details"})
EMPTY_SAYS_NOTHING = frozenset({"files_read", "files_modified", "text", "alternatives", "open_questions"})
"""Optional fields of a record that are left out if they are empty."""

_BODIES: dict[str, type[Body]] = {"text": TextBody, "message": MessageBody, "json": JsonBody}


def _read_body(converter: cattrs.Converter, value: Any) -> Body:
    if not isinstance(value, dict):
        raise TypeError("expected an object")
    kind = value.get("type")
    cls = _BODIES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise problem_at("type", "expected one of text, message, json", TextBody)
    body: Body = converter.structure(value, cls)
    if isinstance(body, JsonBody) and json_depth(body.data) > MAX_JSON_DEPTH:
        raise ValueError(f"expected at most {MAX_JSON_DEPTH} levels of JSON")
    if MOST_BYTES_OF_WEIGHT * body_weight(body) > MAX_BODY_BYTES and body_bytes(body) > MAX_BODY_BYTES:
        raise ValueError(f"expected at most {MAX_BODY_BYTES} bytes of JSON")
    return body


def _new_converter(*, is_thorough: bool) -> cattrs.Converter:
    converter = new_converter(is_thorough=is_thorough)
    converter.register_structure_hook_func(lambda kind: kind == Body, lambda value, _: _read_body(converter, value))
    return converter


_at_once = _new_converter(is_thorough=False)
_converter = _new_converter(is_thorough=True)
_converter.register_unstructure_hook_func(
    lambda kind: kind == Body, lambda body: _converter.unstructure(body, type(body))
)
# JSON is written as it is, since cattrs would walk it and fail at a depth of a few hundred.
_converter.register_unstructure_hook(JsonBody, lambda body: {"data": body.data, "type": body.type})


def read_json(text: bytes | str) -> Any:
    """The value of a JSON text.

    Raises:
      InvalidRequest: it is no JSON, not UTF-8, holds NaN or infinite numbers, or is nested too deep.
    """
    try:
        # Otherwise the library would guess the encoding of bytes.
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        return json.loads(decoded, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest([("$", f"expected JSON: {_first_line(error)}")]) from error


def is_utf16_or_utf32(body: bytes) -> bool:
    """Whether ``body`` begins with their byte order mark, or with the zero bytes of JSON in them (RFC 4627, 3)."""
    return not json.detect_encoding(body).startswith("utf-8")


def read_event(value: Any) -> Event:
    """A JSON value as an event; unknown keys are ignored.

    Raises:
      InvalidRequest: names every wrong value.
    """
    return read_event_at_once(value) or read_event_thoroughly(value)


def read_event_at_once(value: Any) -> Event | None:
    """As ``read_event``, in less than half the time; None if anything is wrong."""
    return structure_at_once(_at_once, value, Event)


def read_event_thoroughly(value: Any) -> Event:
    """As ``read_event``, but finds every problem."""
    return structure(_converter, value, Event)


def read_record(value: Any) -> MemoryRecord:
    """A JSON value as a memory record; unknown keys are ignored.

    Raises:
      InvalidRequest: names every wrong value.
    """
    return structure(_converter, value, MemoryRecord)


def json_depth(value: Any) -> int:
    """How many lists and objects enclose the innermost value."""
    depth, level = 0, [value]
    while level := [child for each in level for child in _children(each)]:
        depth += 1
    return depth


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def write_event(event: Event) -> dict[str, Any]:
    return _without_nothing(_converter.unstructure(event))


def write_record(record: MemoryRecord) -> dict[str, Any]:
    """The record as the contracts define it; optional fields that are empty are left out."""
    return _without_nothing(_converter.unstructure(record), also_empty=EMPTY_SAYS_NOTHING)


def write_value(value: Any) -> Any:
    """Any of our frozen values as a JSON value."""
    return _converter.unstructure(value)


def _without_nothing(fields: dict[str, Any], *, also_empty: frozenset[str] = frozenset()) -> dict[str, Any]:
    return {
        name: _without_nothing(value, also_empty=EMPTY_SAYS_NOTHING) if name in NESTED and value else value
        for name, value in fields.items()
        if value is not None and not (name in also_empty and not value)
    }


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is a number too large")
    return number


def _first_line(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error).split("\n", maxsplit=1)[0]


# The answers about events, as JSON: the only place that knows their shapes.

MOST_TOLD = 2_000
"""The most characters of an event's text in a list."""

FACTOR_DIGITS = 3

TELLING = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")
"""Fields of a tool's input; the first of these that exists describes the use best."""


def stored_answer(event_id: str, stored: bool | Literal["pending"]) -> dict[str, Any]:
    """Whether one event was stored."""
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
    """An event in a list: its text, cut, and for a tool use the name of the tool."""
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
    """The text of an event, and the tool if it is a tool use."""
    if isinstance(event.body, MessageBody):
        return "\n".join(f"{turn.role}: {turn.content}" for turn in event.body.turns), None
    if not isinstance(event.body, JsonBody):
        return event.body.content, None
    use = event.body.data if isinstance(event.body.data, dict) else {"tool_input": event.body.data}
    given, tool = use.get("tool_input", use), use.get("tool_name")
    told = next((given[name] for name in TELLING if name in given), given) if isinstance(given, dict) else given
    text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    return text, tool if isinstance(tool, str) else None


def feedback_answer(counts: FeedbackCounts) -> dict[str, Any]:
    """How often each kind of feedback was given on a memory, and the factor for its score."""
    return {**attrs.asdict(counts), "factor": round(counts.factor, FACTOR_DIGITS)}


def refusal_answer(error: str, *, hint: str = "", details: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """The one shape of all refusals."""
    value: dict[str, Any] = {"error": error}
    if hint:
        value["hint"] = hint
    if details:
        value["details"] = [{"path": path, "problem": problem} for path, problem in details]
    return value


def error_refusal(error: KiroLearnError) -> dict[str, Any]:
    """The refusal of a request that ended with an error of ours."""
    if isinstance(error, InvalidRequest):
        return refusal_answer("validation failed", hint=error.hint, details=error.problems)
    return refusal_answer(str(error), hint=error.hint)


def write_lines(values: Iterable[dict[str, Any]]) -> bytes:
    """NDJSON, in ASCII."""
    return b"".join(json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n" for value in values)


HandedIn = TypeVar("HandedIn", Observation, KnowledgeItem, Checkpoint)

_of_handed_in = new_converter()

ALIASES = {"content": "text"}
"""Names of an observation's fields in results."""


def read_handed_in(value: Any, cls: type[HandedIn]) -> HandedIn:
    """A JSON value as a ``cls``; unknown keys are ignored.

    Raises:
      InvalidRequest: names every wrong value.
    """
    if cls is Observation and isinstance(value, dict):
        value = {own: value[alias] for alias, own in ALIASES.items() if alias in value} | value
    return structure(_of_handed_in, value, cls)
