"""What a client sent, read strictly: a message, or the error that JSON-RPC 2.0 names for what is none."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from kiro_learn.wire.jsonrpc import Failure, Notification, Request, is_id
from kiro_learn.wire.mcp.versions import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

NOT_JSON = Failure(None, PARSE_ERROR, "Parse error: expected JSON in UTF-8")


class Response(NamedTuple):
    """An answer to a request; we never make one, so it is passed over."""


Incoming: TypeAlias = Request | Notification | Response | Failure


def read_message(value: Any) -> Incoming:
    """A JSON value as a message; a Failure is what is to be answered to one that is none."""
    if not isinstance(value, dict):
        return _invalid(None, "expected an object")
    number = value.get("id")
    known = number if is_id(number) else None
    if value.get("jsonrpc") != "2.0":
        return _invalid(known, 'expected "jsonrpc": "2.0"')
    if "method" not in value:
        is_response = "result" in value or "error" in value
        return Response() if is_response else _invalid(known, "expected a method")
    return _read_call(value, number)


def _read_call(value: dict[str, Any], number: Any) -> Incoming:
    known = number if is_id(number) else None
    method = value["method"]
    if not isinstance(method, str):
        return _invalid(known, "expected the method's name as text")
    if "id" in value and known is None:
        return _invalid(None, "expected text or a whole number as id")
    params = value.get("params", {})
    if not isinstance(params, dict | list):
        return _invalid(known, "expected an object as params")
    if known is None:
        return Notification(method, params)
    if isinstance(params, list):
        return Failure(known, INVALID_PARAMS, "Invalid params: expected an object")
    return Request(known, method, params)


def _invalid(number: Any, problem: str) -> Failure:
    return Failure(number, INVALID_REQUEST, f"Invalid Request: {problem}")
