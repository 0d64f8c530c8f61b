"""The bare ASGI application in front of Quart: it checks every request, reads its body, and answers ``routes`` itself.

These routes are events and hooks, which come at every step of an agent and would cost more processor time in Quart
than in the store; imports of exports, whose lines are longer than other bodies may be; and exports and the live feed,
which are sent piece by piece, because Quart tells nobody why a piece failed. All other requests are handed to Quart
after the same checks.

Rules of this file: a request that passes the checks is carried out to its end, even if its caller disconnects, so that
nothing is left half done. Every answer has the same general headers.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any

import attrs
import trio

from kiro_learn.config import ServerConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.http.answers import (
    Answer,
    NewBoundary,
    Refused,
    Stream,
    answer_for,
    encoded_headers,
    error_answer,
    with_always,
)
from kiro_learn.frontends.http.patches import CONNECTION
from kiro_learn.frontends.http.routes import Route, read_request
from kiro_learn.frontends.viewer.routes import Login

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

LINGER_SECONDS = 0.5
"""How long the rest of a refused body is read and dropped: a caller that still sends would not see the answer."""

_VARIABLE = re.compile(r"<(\w+)>")


class Intake:
    """Answers the requests of ``routes``; hands all others that pass the checks to ``inner``."""

    def __init__(
        self,
        inner: Application,
        routes: Iterable[Route],
        config: ServerConfig,
        token: str,
        *,
        new_boundary: NewBoundary,
        login: Login | None = None,
    ) -> None:
        self._inner = inner
        self._routes = [(route, re.compile(_VARIABLE.sub(r"(?P<\1>[^/]+)", route.path))) for route in routes]
        self._config = config
        self._token = token.encode()
        self._login = login or Login(token)
        self._new_boundary = new_boundary

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the server speaks nothing else"
        route, path = self._find(scope["method"], scope["path"])
        most_bytes = max(self._config.max_body_bytes, route.max_body_bytes if route else 0)
        head = _head(scope, self._config)
        found: Answer | bytes | None = refusal(head, self._token, self._login)
        if found is None:
            if shows_key(head, self._token, self._login):
                _note_known(scope)
            found = await self._body(scope, receive, most_bytes)
        if isinstance(found, Answer):
            await _refuse(found, receive, send)
        elif isinstance(found, bytes) and route is not None:
            answer = await self._answer(route, path, scope, found)
            if answer.stream is None:
                await _send(answer, send)
            else:
                await self._send_stream(answer, answer.stream, scope, receive, send)
        elif isinstance(found, bytes):
            await self._inner(scope, _once(found), _with_headers(send))

    def _find(self, method: str, path: str) -> tuple[Route | None, Mapping[str, str]]:
        """The matching route, or None, and the variable parts of the path."""
        for route, pattern in self._routes:
            if method == route.method and (parts := pattern.fullmatch(path)):
                return route, parts.groupdict()
        return None, {}

    async def _body(self, scope: Message, receive: Receive, most_bytes: int) -> bytes | Answer | None:
        """The whole body; or its refusal; or None if the caller disconnected."""
        if _announced_bytes(scope) > most_bytes:
            return _too_large(most_bytes)
        body = bytearray()
        with trio.move_on_after(self._config.read_seconds):
            while len(body) <= most_bytes:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    return bytes(body)
            return _too_large(most_bytes)
        return error_answer(408, "the request came too slowly", headers={"Connection": "close"})

    async def _answer(self, route: Route, path: Mapping[str, str], scope: Message, body: bytes) -> Answer:
        """The answer to a request that passed the checks; an error becomes an answer too."""
        with self._new_boundary("request") as boundary:
            try:
                query, headers = scope["query_string"], scope["headers"]
                return await route.answer(read_request(route, path=path, query=query, headers=headers, body=body))
            except (KiroLearnError, Refused) as error:
                return answer_for(error)
        assert boundary.error is not None, "nothing else ends the block early"
        return answer_for(boundary.error)

    async def _send_stream(self, answer: Answer, stream: Stream, scope: Message, receive: Receive, send: Send) -> None:
        """Send the pieces until the stream ends or fails, the caller hangs up, or the server stops.

        An answer whose stream did not come to its end is not ended either, so that the server breaks the connection:
        its caller must not take it for a whole one.
        """
        connection = scope.get("state", {}).get(CONNECTION)
        is_whole = answer.is_endless
        with self._new_boundary("stream") as boundary:
            async with aclosing(stream), trio.open_nursery() as nursery:
                await send(_start(answer))
                nursery.start_soon(_then_cancel, receive, nursery.cancel_scope)
                if connection is not None:
                    nursery.start_soon(_then_cancel, connection.server_stops, nursery.cancel_scope)
                async for piece in stream:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                is_whole = True
                nursery.cancel_scope.cancel()
        if is_whole and boundary.error is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _then_cancel(wait: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await wait()
    scope.cancel()


def _head(scope: Message, config: ServerConfig) -> Head:
    server = scope.get("server") or (config.host, config.port)
    return Head(method=scope["method"], path=scope["path"], headers=scope["headers"], port=server[1])


def _note_known(scope: Message) -> None:
    """Tell the connection that the caller has shown the token or the viewer's cookie."""
    connection = scope.get("state", {}).get(CONNECTION)
    if connection is not None:
        connection.note_known()


def _announced_bytes(scope: Message) -> int:
    announced = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(announced[0]) if announced else 0


def _too_large(most: int) -> Answer:
    return error_answer(
        413, "request body too large", hint=f"Send at most {most} bytes at a time.", headers={"Connection": "close"}
    )


def _once(body: bytes) -> Receive:
    """A ``receive`` that gives the whole body at once, and never reports that the caller disconnected.

    Otherwise Quart-Trio would cancel sending the last part of an answer as soon as Hypercorn reports it as sent.
    """
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if waiting:
            return waiting.pop()
        await trio.sleep_forever()
        raise AssertionError("for ever ended")

    return receive


def _with_headers(send: Send) -> Send:
    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": with_always(message["headers"])}
        await send(message)

    return send_on


async def _send(answer: Answer, send: Send) -> None:
    await send(_start(answer))
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _start(answer: Answer) -> Message:
    return {"type": "http.response.start", "status": answer.status, "headers": with_always(encoded_headers(answer))}


async def _refuse(answer: Answer, receive: Receive, send: Send) -> None:
    """Answer at once, and read on for a moment; the rest of the body is dropped."""
    dropped = trio.Event()

    async def drop() -> None:
        message = await receive()
        while message["type"] == "http.request" and message.get("more_body", False):
            message = await receive()
        dropped.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drop)
        await send(_start(answer))
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
        with trio.move_on_after(LINGER_SECONDS):
            await dropped.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        nursery.cancel_scope.cancel()


# Checks the head of a request: any local program or web page can reach the port.
#
# Any web page can have a browser send requests here, and any domain can resolve to 127.0.0.1. So a request must name us
# as its host, and must not come from another web page. It must also have the token, which only this user can read, or
# the viewer's cookie, which was given for the token.

OPEN_PATHS = frozenset({"/healthz", "/ui"})
VIEWER = "/ui/"
"""The viewer's pages and files can be read without the token; they load their data with requests of their own."""
CODE_PATH = "/v1/ui/code"
"""The route that makes codes for new cookies, and so requires the token itself."""
READS = frozenset({"GET", "HEAD"})

OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
HTTP_PORT = 80
OWN_FETCH_SITES = frozenset({"same-origin", "none"})

_GOOD_PATH = re.compile("/[^\x00-\x1f\x7f\ufffd]*")
"""U+FFFD stands in a decoded path for percent-encoded bytes that are no UTF-8."""


@attrs.frozen(kw_only=True)
class Head:
    """The head of a request, its header names in lower case."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]
    port: int
    """The port on which the request arrived."""

    def all(self, name: bytes) -> list[bytes]:
        return [value for each, value in self.headers if each == name]


def refusal(head: Head, token: bytes, login: Login) -> Answer | None:
    """The refusal of ``head``, or None. The token is checked last: a request from elsewhere learns nothing of it."""
    return _bad_path(head) or _foreign(head) or _unknown(head, token, login)


def shows_key(head: Head, token: bytes, login: Login) -> bool:
    """Whether the head has the token, or the viewer's cookie where that is enough: a write also needs our origin.

    Only for requests from our own pages or programs; ``refusal`` turns others away.
    """
    # All tokens are compared, each in constant time, so that timing reveals nothing of the token.
    matches = [hmac.compare_digest(each, token) for each in _tokens(head)]
    if any(matches):
        return True
    is_enough = head.path != CODE_PATH and (head.method in READS or bool(head.all(b"origin")))
    return is_enough and login.knows(head.all(b"cookie"))


def _bad_path(head: Head) -> Answer | None:
    return None if _GOOD_PATH.fullmatch(head.path) else error_answer(400, "the path is not valid")


def _foreign(head: Head) -> Answer | None:
    hosts = _own_hosts(head.port)
    asked = head.all(b"host")
    if len(asked) != 1 or asked[0].lower() not in hosts:
        return error_answer(403, "wrong host", hint="Ask for localhost or 127.0.0.1, with the port.")
    if any(origin.lower() not in {b"http://" + host for host in hosts} for origin in head.all(b"origin")):
        return error_answer(403, "wrong origin")
    if any(site.decode("latin-1").lower() not in OWN_FETCH_SITES for site in head.all(b"sec-fetch-site")):
        return error_answer(403, "wrong origin")
    return None


@cache
def _own_hosts(port: int) -> frozenset[bytes]:
    hosts = frozenset(f"{name}:{port}".encode() for name in OWN_NAMES)
    return hosts | {name.encode() for name in OWN_NAMES} if port == HTTP_PORT else hosts


def _unknown(head: Head, token: bytes, login: Login) -> Answer | None:
    if (head.method in READS and _is_open(head.path)) or shows_key(head, token, login):
        return None
    return error_answer(
        401,
        "wrong token" if _tokens(head) else "no token",
        hint="Send `Authorization: Bearer` with the content of the file `token` in the home of kiro-learn.",
        headers={"WWW-Authenticate": 'Bearer realm="kiro-learn"'},
    )


def _is_open(path: str) -> bool:
    """Whether the path may be read without a key, because it shows nothing of what is stored."""
    return path in OPEN_PATHS or (path.startswith(VIEWER) and not path.endswith(".json"))


def _tokens(head: Head) -> list[bytes]:
    given = [value.partition(b" ") for value in head.all(b"authorization")]
    bearers = [token.strip() for scheme, _, token in given if scheme.lower() == b"bearer"]
    return bearers + [value.strip() for value in head.all(b"x-worker-token")]
