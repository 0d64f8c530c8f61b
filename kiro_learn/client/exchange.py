"""One request and its answer in HTTP/1.1, without input or output; both clients use it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias

import h11

from kiro_learn.client.address import DaemonAddress
from kiro_learn.client.building import BAD_REQUEST, Call, Response

Reading: TypeAlias = Generator[None, bytes, Response]
"""Waits for the next bytes (empty at the end) until it returns the answer. Raises h11.RemoteProtocolError."""


def request_of(http: h11.Connection, daemon: DaemonAddress, call: Call[Any], *, is_kept: bool) -> bytes:
    """All bytes of ``call``. ``is_kept``: the connection is to be used again."""
    host = f"[{daemon.host}]" if ":" in daemon.host else daemon.host
    body = call.body or b""
    headers = {"Host": f"{host}:{daemon.port}", "Content-Length": str(len(body))}
    headers |= {} if is_kept else {"Connection": "close"}
    headers |= call.headers_for(daemon.token)
    request = h11.Request(method=call.method, target=call.target, headers=list(headers.items()))
    parts = (http.send(request), http.send(h11.Data(data=body)), http.send(h11.EndOfMessage()))
    return b"".join(part or b"" for part in parts)


def reading_of(http: h11.Connection, sink: Callable[[bytes], object] | None = None) -> Reading:
    """Reads the answer to the last request; start it with ``next``.

    ``sink``: gets the body of a successful answer piece by piece; the returned answer has no body then.
    """
    status, headers, body = 0, {}, bytearray()
    while True:
        match http.next_event():
            case h11.NEED_DATA:
                http.receive_data((yield))
            case h11.Response(status_code=status, headers=raw):
                headers = {name.decode("ascii"): value.decode("latin-1") for name, value in raw}
            case h11.Data(data=piece):
                if sink is None or status >= BAD_REQUEST:
                    body += piece
                else:
                    sink(bytes(piece))
            case h11.EndOfMessage():
                return Response(status, headers, bytes(body))


def may_go_on(http: h11.Connection) -> bool:
    """Whether the next request may use the same connection; if so, the connection is prepared for it."""
    if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
        return False
    http.start_next_cycle()
    return True
