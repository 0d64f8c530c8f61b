"""One message on a line: messages, noise, and lines that are too long."""

from __future__ import annotations

import pytest

from kiro_learn.wire.jsonrpc import Failure, MessageReader, Notification, Overlong, Request, Result, decode, encode


def test_each_kind_of_message_is_told_from_the_others() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}') == Request(1, "m", [])
    assert decode(b'{"jsonrpc":"2.0","method":"m"}') == Notification("m")
    assert decode(b'{"jsonrpc":"2.0","id":"a","result":null}') == Result("a", None)
    assert decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}') == Failure(None, -32700, "no")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"Welcome!",
        b"\xff",
        b"7",
        b'{"id":1,"result":1}',
        b'{"jsonrpc":"2.0","id":1.5,"result":1}',
        b'{"jsonrpc":"2.0","id":true,"method":"m"}',
        b'{"jsonrpc":"2.0","id":null,"method":"m"}',
        b'{"jsonrpc":"2.0","method":7}',
        b'{"jsonrpc":"2.0","id":1,"error":"no"}',
        b'{"jsonrpc":"2.0","id":1,"result":NaN}',
        b"[" * 100_000,
        b"9" * 10_000,
    ],
)
def test_anything_else_is_noise(line: bytes) -> None:
    assert decode(line) is None


def test_a_failure_without_a_code_is_still_one() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":7}}') == Failure(1, 0, "")


def test_what_is_not_given_is_not_sent() -> None:
    assert encode(Notification("m")) == b'{"jsonrpc":"2.0","method":"m"}\n'


def test_a_line_that_is_too_long_is_said_once_and_the_next_is_read() -> None:
    reader = MessageReader(most_bytes=40)
    heard = [message for _ in range(10) for message in reader.feed(b"x" * 30)]
    heard += reader.feed(b"\n" + encode(Notification("m")))
    assert heard == [Overlong(40), Notification("m")]


def test_a_long_line_is_searched_only_once() -> None:
    """For three megabytes in small pieces, a search from the start each time would take over a second."""
    reader = MessageReader()
    piece = b"x" * 1000
    for _ in range(3000):
        assert list(reader.feed(piece)) == []
    assert list(reader.feed(b"\n")) == []
