"""The supported revisions of the protocol, and the differences between them.

"Legacy" revisions begin with an ``initialize`` request; in the "modern" one each request has its version in ``_meta``.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from kiro_learn.model.version import __version__
from kiro_learn.wire.jsonrpc import Failure, Notification, Request, is_id

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first."""
SUPPORTED = (MODERN, *LEGACY)

WITHOUT_HEADER = "2025-03-26"
"""The revision of a request over HTTP without ``MCP-Protocol-Version`` (2025-06-18, Transports)."""

WITH_BATCHES = frozenset({"2025-03-26", "2024-11-05"})
"""JSON-RPC batches were introduced in 2025-03-26 and removed in 2025-06-18; 2024-11-05 is plain JSON-RPC 2.0."""

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
LEGACY_RESOURCE_NOT_FOUND = -32002
"""Used until 2025-11-25; since then ``INVALID_PARAMS`` is used."""
HEADER_MISMATCH = -32020
UNSUPPORTED_PROTOCOL_VERSION = -32022

IDENTITY: dict[str, Any] = {"name": "kiro-learn", "title": "kiro-learn", "version": __version__}

INSTRUCTIONS = (
    "A lasting memory of this project's past sessions: decisions, constraints, errors and how they were solved. "
    "Before you decide on something that may have been decided before, call search_memory or recall_context. "
    "Keep what should outlast this session: store_knowledge for a constraint, decision, heuristic or rejected idea, "
    "save_observation for what you found or did, save_session_summary before you stop. "
    "Correct a wrong memory with edit_memory; remove one with forget_memory only if the user wants that."
)


def knows_titles(version: str) -> bool:
    """Whether tools have titles, output schemas and structured results."""
    return version >= "2025-06-18"


def knows_annotations(version: str) -> bool:
    return version >= "2025-03-26"


# Reading a client's messages strictly: each is a message, or an error that JSON-RPC 2.0 defines.

NOT_JSON = Failure(None, PARSE_ERROR, "Parse error: expected JSON in UTF-8")


class Response(NamedTuple):
    """An answer to a request. We send no requests to clients, so it is ignored."""


Incoming: TypeAlias = Request | Notification | Response | Failure


def read_message(value: Any) -> Incoming:
    """A JSON value as a message; a Failure is the answer to a value that is no message."""
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
