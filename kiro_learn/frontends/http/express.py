"""A lane past Quart for the one request that comes with every step of every agent: storing an event.

Quart and Hypercorn take over a millisecond of processor time for a request, more than all the rest of storing one. The
guard, the route and the errors are the same as on the other lane; only what stands between them is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from werkzeug.http import parse_options_header

from kiro_learn.config import ServerConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.http.answers import Answer, Refused, error_answer
from kiro_learn.frontends.http.failures import Contain, answer_for
from kiro_learn.frontends.http.guard import Head, refusal
from kiro_learn.frontends.http.plain_request import PlainRequest
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


class ExpressLane:
    """Answers the requests of ``EXPRESS_PATHS``."""

    def __init__(self, routes: Iterable[Route], config: ServerConfig, token: str, *, contain: Contain) -> None:
        self._routes: dict[tuple[str, str], Route] = {
            (route.method, route.path): route for route in routes if (route.method, route.path) in EXPRESS_PATHS
        }
        self._most_body_bytes = config.max_body_bytes
        self._token = token.encode()
        self._contain = contain

    def route(self, method: str, path: str) -> Route | None:
        return self._routes.get((method, path))

    async def answer(self, route: Route, *, query: bytes, headers: ScopeHeaders, body: bytes) -> Answer:
        """What ``route`` says to a request that was let in, whatever goes wrong."""

        async def work() -> Answer:
            try:
                request = read_request(route, path={}, query=query, headers=headers, body=body)
                return await route.answer(request)
            except (KiroLearnError, Refused) as error:
                return answer_for(error)

        found = await self._contain("request", work)
        return answer_for(found) if isinstance(found, Exception) else found

    def route_at_once(self, request: PlainRequest, *, port: int) -> Route | None:
        """Who answers ``request`` without the gate; None if that is for the gate to say, as it is of all it refuses."""
        route = self.route(request.method, request.path)
        if route is None or len(request.body) > self._most_body_bytes:
            return None
        head = Head(method=request.method, path=request.path, headers=request.headers, port=port)
        return route if refusal(head, self._token) is None else None
