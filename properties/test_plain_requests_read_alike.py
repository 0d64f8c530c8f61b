"""A request that is recognised as plain says to us exactly what it says to h11; whatever bytes come."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import h11
from hypothesis import event, example, given
from hypothesis import strategies as st

from kiro_learn.frontends.hook import request_head
from kiro_learn.frontends.http.plain_request import read_head

HOST = b"Host: 127.0.0.1:21100"
PLAIN = b"POST /v1/events?retrieve=true HTTP/1.1\r\n" + HOST + b"\r\nContent-Length: 2\r\n\r\n{}"

FIRST_LINES = st.sampled_from(
    [b"POST /v1/events HTTP/1.1", b"POST /v1/events?a=%20b HTTP/1.1", b"GET /healthz HTTP/1.1", b"POST / HTTP/1.0",
     b"POST /v1/events#x HTTP/1.1", b"POST //a HTTP/1.1", b"post /v1/events HTTP/1.1", b"POST  /v1/events HTTP/1.1"]
)  # fmt: skip
LINES = st.sampled_from(
    [HOST, HOST, b"host: x", b"Content-Length: 2", b"Content-Length: 2", b"content-length:2 ", b"Content-Length: 3",
     b"Content-Length: 2, 2", b"Content-Length: +2", b"Content-Length: 0", b"Transfer-Encoding: chunked",
     b"Expect: 100-continue", b"Connection: keep-alive", b"Connection: close", b"Connection: keep-alive, close",
     b"Upgrade: h2c", b"X:", b"X: \t y \t z \t", b"X: \xe9", b"X : y", b" folded", b"X: a\x00b", b"X: a\nY: b",
     b"X: \x7f", b"X: \x1f", b"Authorization: Bearer a", b": nameless", b"nonsense", b"X: a\rb"]
)  # fmt: skip
BODIES = st.sampled_from([b"{}", b"{}", b"", b"{}{", b"\r\n", b"2\r\n{}\r\n0\r\n\r\n"])
LINE_ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n"])


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    end = draw(LINE_ENDS)
    head = [draw(FIRST_LINES), *draw(st.lists(LINES, min_size=1, max_size=5))]
    return end.join([*head, b"", draw(BODIES)])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(PLAIN)
    place = draw(st.integers(0, len(data) - 1))
    data[place : place + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(data)


@attrs.frozen(kw_only=True)
class Said:
    """What a request says."""

    method: str
    path: str
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    is_last: bool


def read_by_us(data: bytes) -> Said | None:
    """``data`` as one request of which nothing is missing and behind which nothing follows; None if it may be else."""
    head = read_head(data)
    if head is None or len(data) != head.size + head.body_bytes:
        return None
    return Said(
        method=head.method,
        path=head.path,
        query=head.query,
        headers=head.headers,
        body=data[head.size :],
        is_last=head.is_last,
    )


def read_by_h11(data: bytes) -> Said:
    """``data`` as h11 reads it, which must be one request and nothing else."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    request, body = connection.next_event(), b""
    assert isinstance(request, h11.Request), "h11 finds no request"
    assert not connection.they_are_waiting_for_100_continue
    while isinstance(piece := connection.next_event(), h11.Data):
        body += bytes(piece.data)
    assert isinstance(piece, h11.EndOfMessage), "h11 waits for more"
    assert connection.their_state in {h11.DONE, h11.MUST_CLOSE}, "h11 would change to another protocol"
    assert connection.trailing_data == (b"", False), "h11 finds another request behind it"
    path, _, query = request.target.partition(b"?")
    return Said(
        method=request.method.decode(),
        path=path.decode(),
        query=query,
        headers=list(request.headers),
        body=body,
        is_last=connection.their_state is h11.MUST_CLOSE,
    )


@given(requests() | damaged() | st.binary(max_size=80))
@example(PLAIN)
def test_what_is_plain_to_us_is_the_same_to_h11(data: bytes) -> None:
    plain = read_by_us(data)
    event(f"plain: {plain is not None}")
    assert plain is None or plain == read_by_h11(data)


@given(requests() | damaged(), st.integers(0, 200))
@example(PLAIN, len(PLAIN))
def test_a_head_says_the_same_wherever_its_body_is_cut(data: bytes, cut: int) -> None:
    head = read_head(data)
    if head is not None:
        assert read_head(data[: head.size + cut]) == head
        assert read_head(data[: head.size - 1]) is None


@given(st.binary(max_size=50), st.sampled_from([b"", b"a=b&retrieve=true"]), st.sampled_from(["keep-alive", "close"]))
def test_what_agents_send_is_plain(body: bytes, query: bytes, wish: str) -> None:
    head = f"POST /v1/events?{query.decode()} HTTP/1.1\r\nHost: localhost:21100\r\nAccept: */*\r\nConnection: {wish}"
    data = f"{head}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    plain = read_by_us(data)
    assert plain is not None
    assert (plain.method, plain.path, plain.query, plain.body) == ("POST", "/v1/events", query, body)
    assert plain.is_last == (wish == "close")


@given(st.text(max_size=50), st.binary(max_size=50))
def test_what_the_shim_sends_is_plain(event_name: str, body: bytes) -> None:
    request = request_head("claude-code", event_name, "0" * 26, 1_767_614_400_000_000_000, len(body), len(body))
    head = f"{request}\r\nHost: 127.0.0.1:21100\r\nAuthorization: Bearer a\r\nConnection: close\r\n\r\n"
    plain = read_by_us(head.encode() + body)
    assert plain is not None
    assert (plain.path, plain.query, plain.body) == ("/v1/hooks/claude-code", b"retrieve=true", body)
    assert plain.is_last
