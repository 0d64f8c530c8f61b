"""Requests and routes as values; refuses a body that is not plain UTF-8 JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import attrs
from werkzeug.http import parse_options_header

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import JSON, Answer, Refused, error_answer
from kiro_learn.frontends.http.operations import Operation, Parameter, Query, read_query
from kiro_learn.wire.messages import is_utf16_or_utf32, read_json

ScopeHeaders: TypeAlias = Iterable[tuple[bytes, bytes]]

NDJSON = "application/x-ndjson"
OCTETS = "application/octet-stream"
EVENT_STREAM = "text/event-stream"

PLAIN = frozenset({"identity", ""})
"""Content codings that change nothing (RFC 9110, 8.4)."""
UTF8 = frozenset({"utf-8", "utf8", "us-ascii"})


@attrs.frozen(kw_only=True)
class Request:
    """A request that passed the intake's checks."""

    path: Mapping[str, str]
    """The variable parts of the path, decoded."""
    query: Query
    headers: Mapping[str, str]
    """The headers by lower-case name; of repeated ones, the first."""
    body: bytes
    is_head: bool = False
    """True for HEAD: only the headers are wanted, and nothing may be used up."""

    def json(self) -> Any:
        """The body as a JSON value.

        Raises:
          Refused: the body is no JSON.
        """
        try:
            return read_json(self.body)
        except InvalidRequest as error:
            raise Refused(error_answer(400, "invalid JSON", details=error.problems)) from error


@attrs.frozen
class Route:
    """One path and method, the function that answers them, and the bounds of a body."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    answer: Callable[[Request], Awaitable[Answer]]
    takes: tuple[str, ...] = (JSON,)
    max_body_bytes: int = 0
    """The most bytes of a body, if that is more than ``server.max_body_bytes``."""
    about: Operation | None = None
    """The entry for the OpenAPI document; every route below ``/api`` has one."""
    parameters: tuple[Parameter[Any], ...] = ()
    """The parameters of the query string, if ``about`` does not name them."""
    takes_any_query: bool = False
    """True: the query is for the viewer's script in the page, and is not checked."""

    @property
    def all_parameters(self) -> tuple[Parameter[Any], ...]:
        """The parameters that a request may have; every other one is refused."""
        return self.parameters if self.about is None else self.about.parameters


def read_request(route: Route, *, path: Mapping[str, str], query: bytes, headers: ScopeHeaders, body: bytes) -> Request:
    """The request to ``route`` as a value.

    Raises:
      Refused: the body has a type that the route does not take, or is no plain UTF-8; or the query is malformed or
        has a parameter that the route does not know.
    """
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    named = dict(reversed(pairs))
    if body:
        codings = {
            each.strip().lower() for name, value in pairs if name == "content-encoding" for each in value.split(",")
        }
        refused = _body_refusal(route, body, content_type=named.get("content-type", ""), codings=codings)
        if refused is not None:
            raise Refused(refused)
    asked = read_query(query)
    if not route.takes_any_query:
        asked.refuse_others([parameter.name for parameter in route.all_parameters])
    return Request(path=path, query=asked, headers=named, body=body)


def _body_refusal(route: Route, body: bytes, *, content_type: str, codings: set[str]) -> Answer | None:
    """The refusal of ``body``, or None. The type does not matter for methods other than POST."""
    kind, options = parse_options_header(content_type)
    if not codings <= PLAIN:
        hint = "Send the body as it is, without Content-Encoding."
        return error_answer(415, "unsupported content encoding", hint=hint, headers={"Accept-Encoding": "identity"})
    if route.method == "POST" and kind.lower() not in route.takes:
        return error_answer(415, "unsupported content type", hint=f"Send Content-Type: {' or '.join(route.takes)}.")
    if options.get("charset", "utf-8").lower() not in UTF8:
        return error_answer(415, "unsupported charset", hint="Send UTF-8.")
    if is_utf16_or_utf32(body):
        return error_answer(400, "the body is not in UTF-8", hint="Send UTF-8.")
    return None
