"""A request that is recognised as plain says to us exactly what it says to h11; whatever bytes come."""

from __future__ import annotations

import h11
from hypothesis import event, example, given
from hypothesis import strategies as st

from kiro_learn.frontends.http.plain_request import PlainRequest, read_plain

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


def read_by_h11(data: bytes) -> PlainRequest:
    """``data`` as h11 reads it, which must be one request and nothing else, after which more may be asked."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    request, body = connection.next_event(), b""
    assert isinstance(request, h11.Request), "h11 finds no request"
    assert not connection.they_are_waiting_for_100_continue
    while isinstance(piece := connection.next_event(), h11.Data):
        body += bytes(piece.data)
    assert isinstance(piece, h11.EndOfMessage), "h11 waits for more"
    assert connection.their_state is h11.DONE, "h11 would close the connection, or change to another protocol"
    assert connection.trailing_data == (b"", False), "h11 finds another request behind it"
    path, _, query = request.target.partition(b"?")
    return PlainRequest(
        method=request.method.decode(), path=path.decode(), query=query, headers=list(request.headers), body=body
    )


@given(requests() | damaged() | st.binary(max_size=80))
@example(PLAIN)
def test_what_is_plain_to_us_is_the_same_to_h11(data: bytes) -> None:
    plain = read_plain(data)
    event(f"plain: {plain is not None}")
    assert plain is None or plain == read_by_h11(data)


@given(st.binary(max_size=50), st.sampled_from([b"", b"a=b&retrieve=true"]))
def test_what_agents_send_is_plain(body: bytes, query: bytes) -> None:
    head = (
        f"POST /v1/events?{query.decode()} HTTP/1.1\r\nHost: localhost:21100\r\nAccept: */*\r\nConnection: keep-alive"
    )
    data = f"{head}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    plain = read_plain(data)
    assert plain is not None
    assert (plain.method, plain.path, plain.query, plain.body) == ("POST", "/v1/events", query, body)
