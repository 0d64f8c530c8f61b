"""A lane past Quart for the one request that comes with every step of every agent: storing an event.

Quart takes a millisecond and a half of processor time for a request, which is more than all the rest of storing one.
The gate, the route and the errors are the same as on the other lane; only the framework between them is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from werkzeug.http import parse_options_header

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.http.answers import Answer, Refused, error_answer
from kiro_learn.frontends.http.failures import Contain, answer_for
from kiro_learn.frontends.http.query import read_query
from kiro_learn.frontends.http.routes import Request, Route

ScopeHeaders: TypeAlias = Iterable[tuple[bytes, bytes]]

EXPRESS_PATHS = frozenset({("POST", "/v1/events")})


def read_request(route: Route, *, path: Mapping[str, str], query: bytes, headers: ScopeHeaders, body: bytes) -> Request:
    """What was asked of ``route``.

    Raises:
      Refused: the body is of a type that the route does not take.
    """
    named = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(list(headers))}
    kind, _ = parse_options_header(named.get("content-type", ""))
    if body and route.method == "POST" and kind.lower() not in route.takes:
        takes = " or ".join(route.takes)
        raise Refused(error_answer(415, "unsupported content type", hint=f"Send Content-Type: {takes}."))
    return Request(path=path, query=read_query(query), headers=named, body=body)


async def answer_express(route: Route, scope: Mapping[str, Any], body: bytes, contain: Contain) -> Answer:
    """What ``route`` says to the request in ``scope``, whatever goes wrong."""

    async def work() -> Answer:
        try:
            request = read_request(route, path={}, query=scope["query_string"], headers=scope["headers"], body=body)
            return await route.answer(request)
        except (KiroLearnError, Refused) as error:
            return answer_for(error)

    found = await contain("request", work)
    return answer_for(found) if isinstance(found, Exception) else found
