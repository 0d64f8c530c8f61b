"""Everything passes here first: it turns away who may not ask, and reads the body before anybody works on it.

Rules of this file: a request that is let in is carried out to its end, whether or not its caller still waits, because a
caller that gave up must not leave half of something behind. And an answer says the same few things about itself always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.answers import ALWAYS, Answer, encoded_headers, error_answer
from kiro_learn.frontends.http.express import ExpressLane
from kiro_learn.frontends.http.guard import Head, refusal

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

LINGER_SECONDS = 0.5
"""How long the rest of a refused body is read and dropped: a caller that still sends would not see the answer."""


class Gate:
    """An ASGI application in front of another."""

    def __init__(
        self,
        inner: Application,
        config: ServerConfig,
        token: str,
        express: ExpressLane,
    ) -> None:
        self._inner = inner
        self._config = config
        self._token = token.encode()
        self._express = express

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the server speaks nothing else"
        answer = _with_headers(send)
        refused = refusal(_head(scope, self._config), self._token)
        found = await self._body(scope, receive) if refused is None else refused
        asked = self._express.find(scope["method"], scope["path"])
        if isinstance(found, bytes) and asked is not None:
            query, headers = scope["query_string"], scope["headers"]
            await _send(await self._express.answer(asked, query=query, headers=headers, body=found), answer)
        elif isinstance(found, bytes):
            await self._inner(scope, _once(found), answer)
        elif found is not None:
            await _refuse(found, receive, answer)

    async def _body(self, scope: Message, receive: Receive) -> bytes | Answer | None:
        """The whole body; or why it is not taken; or None if the caller went away."""
        most = self._config.max_body_bytes
        if _announced_bytes(scope) > most:
            return _too_large(most)
        body = bytearray()
        with trio.move_on_after(self._config.read_seconds):
            while len(body) <= most:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    return bytes(body)
            return _too_large(most)
        return error_answer(408, "the request came too slowly", headers={"Connection": "close"})


def _head(scope: Message, config: ServerConfig) -> Head:
    server = scope.get("server") or (config.host, config.port)
    return Head(method=scope["method"], path=scope["path"], headers=scope["headers"], port=server[1])


def _announced_bytes(scope: Message) -> int:
    announced = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(announced[0]) if announced else 0


def _too_large(most: int) -> Answer:
    return error_answer(
        413, "request body too large", hint=f"Send at most {most} bytes at a time.", headers={"Connection": "close"}
    )


def _once(body: bytes) -> Receive:
    """The whole body in one piece, then silence: nobody is told that the caller went away."""
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
            message = {**message, "headers": [*message["headers"], *ALWAYS]}
        await send(message)

    return send_on


async def _send(answer: Answer, send: Send) -> None:
    await send(_start(answer))
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _start(answer: Answer) -> Message:
    return {"type": "http.response.start", "status": answer.status, "headers": encoded_headers(answer)}


async def _refuse(answer: Answer, receive: Receive, send: Send) -> None:
    """Answer at once, and read on for a moment; what is read is dropped."""
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
