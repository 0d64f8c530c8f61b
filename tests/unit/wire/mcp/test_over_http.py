"""MCP over HTTP: headers that repeat the body, and the status of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.wire.jsonrpc import Failure, Result
from kiro_learn.wire.mcp import versions
from kiro_learn.wire.mcp.over_http import encoded, opened, status_of
from kiro_learn.wire.mcp.protocol import Conversation

META = {versions.PROTOCOL_VERSION: versions.MODERN, versions.CLIENT_CAPABILITIES: {}}
HEADERS = {"mcp-protocol-version": versions.MODERN, "mcp-method": "resources/read"}


def reading(uri: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri, "_meta": META}}


@pytest.mark.parametrize("name", ["plain", "é", " padded ", "two\nlines", "=?base64?eA==?=", "", "a" * 500])
def test_any_name_can_be_repeated_in_a_header(name: str) -> None:
    header = encoded(name)

    assert header.isascii()
    assert header.isprintable()
    assert opened(reading(name), {**HEADERS, "mcp-name": header}) == Conversation()


@pytest.mark.parametrize("header", ["other", "=?base64?====?=", "=?base64?/w==?=", "=?base64?eA?="])
def test_another_name_or_a_malformed_one_is_a_mismatch(header: str) -> None:
    found = opened(reading("x"), {**HEADERS, "mcp-name": header})

    assert isinstance(found, Failure)
    assert (found.id, found.code) == (1, -32020)


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, {"params": []}, {"params": {"_meta": 7}}, {"id": 2, "params": None}]
)
def test_a_body_without_meta_is_of_the_revision_of_its_header(value: Any) -> None:
    assert opened(value, {}) == Conversation("2025-03-26")
    assert opened(value, {"mcp-protocol-version": "2025-11-25"}) == Conversation("2025-11-25")
    assert opened(value, {"mcp-protocol-version": versions.MODERN}) == Conversation()
    refused = opened(value, {"mcp-protocol-version": "x"})
    assert isinstance(refused, Failure)
    assert refused.code == -32022


def test_statuses() -> None:
    assert status_of(Result(1, {}), is_modern=True) == 200
    assert [status_of(Failure(1, code, ""), is_modern=True) for code in (-32601, -32602, -32603)] == [404, 400, 200]
    assert [status_of(Failure(1, code, ""), is_modern=False) for code in (-32601, -32602, -32603)] == [200, 200, 200]
    assert status_of(Failure(None, -32700, ""), is_modern=False) == 400
