"""The additions of HTTP to the protocol: headers that repeat the body, and the status of an answer."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any

from kiro_learn.wire.jsonrpc import METHOD_NOT_FOUND, Failure, Message, is_id
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.protocol import Conversation, unsupported_version
from kiro_learn.wire.mcp.versions import LEGACY, MODERN

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods with an ``Mcp-Name`` header, and the parameter that it repeats."""

_ENCODED, _ENCODED_END = "=?base64?", "?="

BAD_REQUEST, NOT_FOUND, DONE = 400, 404, 200


def opened(value: Any, headers: Mapping[str, str]) -> Conversation | Failure:
    """The conversation of a body, by its headers; or a failure if the headers do not match the body.

    ``headers``: by lower-case names.
    """
    meta = _meta_version(value)
    said = headers.get(VERSION_HEADER)
    number = value.get("id") if isinstance(value, dict) and is_id(value.get("id")) else None
    if meta is not None:
        wrong = _mismatch(value, headers, meta)
        return (
            Conversation() if wrong is None else Failure(number, versions.HEADER_MISMATCH, f"Header mismatch: {wrong}")
        )
    if said is None:
        return Conversation(versions.WITHOUT_HEADER)
    if said == MODERN:
        return Conversation()
    return Conversation(said) if said in LEGACY else unsupported_version(number, said)


def _meta_version(value: Any) -> Any:
    """The version in a modern request; None if it is no modern request."""
    params = value.get("params") if isinstance(value, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(versions.PROTOCOL_VERSION) if isinstance(meta, dict) else None


def _mismatch(value: dict[str, Any], headers: Mapping[str, str], meta: Any) -> str | None:
    if headers.get(VERSION_HEADER) != meta:
        return "MCP-Protocol-Version is not the version in _meta"
    if "id" not in value:
        return None  # no headers are defined for notifications
    method = value.get("method")
    if headers.get(METHOD_HEADER) != method:
        return "Mcp-Method is not the method"
    key = _NAMED_BY.get(method) if isinstance(method, str) else None
    named = None if key is None else value["params"].get(key)
    if named is not None and _decoded(headers.get(NAME_HEADER, "")) != named:
        return f"Mcp-Name is not {key}"
    return None


def _decoded(header: str) -> str | None:
    """The value of a header that may be Base64; None if it is malformed."""
    if not (header.startswith(_ENCODED) and header.endswith(_ENCODED_END)):
        return header
    try:
        return binascii.a2b_base64(header[len(_ENCODED) : -len(_ENCODED_END)], strict_mode=True).decode()
    except (binascii.Error, ValueError):
        return None


def encoded(text: str) -> str:
    """``text`` as the value of a header, in Base64 if it is not plain."""
    is_plain = text.isascii() and text.isprintable() and text == text.strip() and not text.startswith(_ENCODED)
    if is_plain:
        return text
    return f"{_ENCODED}{binascii.b2a_base64(text.encode('utf-8', 'replace'), newline=False).decode()}{_ENCODED_END}"


def status_of(message: Message, *, is_modern: bool) -> int:
    """The HTTP status of a single answer. Legacy revisions have error statuses only for unreadable requests."""
    if not isinstance(message, Failure):
        return DONE
    if not is_modern:
        return DONE if message.id is not None and message.code != versions.UNSUPPORTED_PROTOCOL_VERSION else BAD_REQUEST
    if message.code == METHOD_NOT_FOUND:
        return NOT_FOUND
    return DONE if message.code == versions.INTERNAL_ERROR else BAD_REQUEST
