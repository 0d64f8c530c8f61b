"""A lane past Quart for the requests that come with every step of every agent: storing an event, reporting a hook.

Quart and Hypercorn take over a millisecond of processor time for a request, more than all the rest of storing one. The
guard, the route and the errors are the same as on the other lane; only what stands between them is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import attrs

from kiro_learn.config import ServerConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.http.answers import Answer, Refused
from kiro_learn.frontends.http.bodies import body_refusal
from kiro_learn.frontends.http.failures import Contain, answer_for
from kiro_learn.frontends.http.guard import Head, refusal
from kiro_learn.frontends.http.plain_request import PlainHead
from kiro_learn.frontends.http.query import read_query
from kiro_learn.frontends.http.routes import Request, Route

ScopeHeaders: TypeAlias = Iterable[tuple[bytes, bytes]]

EXPRESS_PATHS = frozenset({("POST", "/v1/events"), ("POST", "/v1/hooks/<agent>")})
_VARIABLE = re.compile(r"<(\w+)>")


@attrs.frozen
class Asked:
    """Who is to answer a request, and the variable parts of its path, decoded."""

    route: Route
    path: Mapping[str, str]


def read_request(route: Route, *, path: Mapping[str, str], query: bytes, headers: ScopeHeaders, body: bytes) -> Request:
    """What was asked of ``route``.

    Raises:
      Refused: the body is not of a type that the route takes, or not plain UTF-8.
    """
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    named = dict(reversed(pairs))
    refused = body and body_refusal(
        body,
        content_type=named.get("content-type", ""),
        content_encodings=[value for name, value in pairs if name == "content-encoding"],
        takes=route.takes if route.method == "POST" else None,
    )
    if refused:
        raise Refused(refused)
    return Request(path=path, query=read_query(query), headers=named, body=body)


class ExpressLane:
    """Answers the requests of ``EXPRESS_PATHS``."""

    def __init__(self, routes: Iterable[Route], config: ServerConfig, token: str, *, catch_errors: Contain) -> None:
        self._lanes = [
            (route, re.compile(_VARIABLE.sub(r"(?P<\1>[^/]+)", route.path)))
            for route in routes
            if (route.method, route.path) in EXPRESS_PATHS
        ]
        self._most_body_bytes = config.max_body_bytes
        self._token = token.encode()
        self._contain = catch_errors

    def find(self, method: str, path: str) -> Asked | None:
        """Whom a request with the decoded ``path`` is for; None if for nobody here."""
        for route, pattern in self._lanes:
            if method == route.method and (parts := pattern.fullmatch(path)):
                return Asked(route, parts.groupdict())
        return None

    def find_at_once(self, head: PlainHead, *, port: int) -> Asked | None:
        """As ``find``, if the request is let in; what the gate would refuse is left for it to refuse."""
        asked = self.find(head.method, head.path)
        if asked is None or head.body_bytes > self._most_body_bytes:
            return None
        whole = Head(method=head.method, path=head.path, headers=head.headers, port=port)
        return asked if refusal(whole, self._token) is None else None

    async def answer(self, asked: Asked, *, query: bytes, headers: ScopeHeaders, body: bytes) -> Answer:
        """What is said to a request that was let in, whatever goes wrong."""

        async def work() -> Answer:
            try:
                request = read_request(asked.route, path=asked.path, query=query, headers=headers, body=body)
                return await asked.route.answer(request)
            except (KiroLearnError, Refused) as error:
                return answer_for(error)

        found = await self._contain("request", work)
        return answer_for(found) if isinstance(found, Exception) else found
