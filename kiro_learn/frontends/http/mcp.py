"""The Model Context Protocol over HTTP: one endpoint, and every request stands by itself.

There are no sessions: a legacy client sends its revision in a header, so nothing about it need be known from before,
and a restart of the daemon breaks no client. There is no stream to listen to either, since no changes are announced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiro_learn.frontends.http.answers import JSON, Answer
from kiro_learn.frontends.http.operations import optional_text
from kiro_learn.frontends.http.routes import EVENT_STREAM, Request, Route
from kiro_learn.frontends.mcp.asking_services import AskedServices, ClientPlace
from kiro_learn.services.services import Services
from kiro_learn.wire.jsonrpc import Failure, Message, Notification, decode_value, encode_value, written
from kiro_learn.wire.mcp.over_http import opened, status_of
from kiro_learn.wire.mcp.protocol import Ask, Cancelled, Exchange, reply
from kiro_learn.wire.mcp.versions import INVALID_REQUEST, NOT_JSON, Response, read_message

PROJECT = optional_text("project", "An absolute folder in a project, its name or its id.")
SESSION = optional_text("session", "The id of the client's session.")

ACCEPTED = 202
BAD_REQUEST = 400
NOT_ACCEPTABLE = 406
_NO_JSON_WANTED = Failure(None, INVALID_REQUEST, "Not Acceptable: accept application/json and text/event-stream")
_NO_RESPONSES = Failure(None, INVALID_REQUEST, "Invalid Request: this response answers no request")


def mcp_routes(services: Services) -> Iterator[Route]:
    async def receive(request: Request) -> Answer:
        if not _takes_json(request.headers.get("accept", "*/*")):
            return _json(_NO_JSON_WANTED, NOT_ACCEPTABLE)
        try:
            value = decode_value(request.body)
        except ValueError:
            return _json(NOT_JSON, BAD_REQUEST)
        conversation = opened(value, request.headers)
        if isinstance(conversation, Failure):
            return _json(conversation, BAD_REQUEST)
        is_modern = conversation.version is None
        if is_modern and isinstance(read_message(value), Response):
            return _json(_NO_RESPONSES, BAD_REQUEST)
        place = ClientPlace(project=PROJECT.read(request.query), session=SESSION.read(request.query))
        _later, exchange = conversation.receive(value)
        return _answer(exchange, await _messages(exchange, AskedServices(services, place)), is_modern=is_modern)

    yield Route("POST", "/mcp", receive, parameters=(PROJECT, SESSION))


def _takes_json(accept: str) -> bool:
    kinds = {kind.partition(";")[0].strip().lower() for kind in accept.split(",")}
    return not kinds.isdisjoint({JSON, "application/*", "*/*"})


async def _messages(exchange: Exchange, services: AskedServices) -> list[Message]:
    """The messages to send, in order; those that need a service have its answer."""
    messages: list[Message] = []
    for output in exchange.outputs:
        if isinstance(output, Ask):
            messages.append(reply(output, await services.answer(output)))
        elif not isinstance(output, Cancelled):
            messages.append(output)
    return messages


def _answer(exchange: Exchange, messages: list[Message], *, is_modern: bool) -> Answer:
    if not messages:
        return Answer(b"", ACCEPTED)
    if exchange.is_batch:
        return Answer(encode_value([written(message) for message in messages]))
    if isinstance(messages[0], Notification):
        events = b"".join(b"event: message\ndata: %b\n\n" % encode_value(written(each)) for each in messages)
        return Answer(events, content_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})
    (message,) = messages
    return _json(message, status_of(message, is_modern=is_modern), without_null_id=is_modern)


def _json(message: Message, status: int, *, without_null_id: bool = False) -> Answer:
    """``without_null_id``: leave out an id that could not be read, as the modern revision does."""
    value: dict[str, Any] = written(message)
    if without_null_id and value.get("id", 0) is None:
        del value["id"]
    return Answer(encode_value(value), status)
