"""What is asked, as a value; and which function answers what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import JSON, Answer, Refused, error_answer
from kiro_learn.frontends.http.query import Query
from kiro_learn.wire.messages import read_json

NDJSON = "application/x-ndjson"
OCTETS = "application/octet-stream"


@attrs.frozen(kw_only=True)
class Request:
    """What was asked, after the gate let it in."""

    path: Mapping[str, str]
    """The variable parts of the path, decoded."""
    query: Query
    headers: Mapping[str, str]
    """By lower-case name; of a name that comes twice, the first."""
    body: bytes

    def json(self) -> Any:
        """The body as a JSON value.

        Raises:
          Refused: it is none.
        """
        try:
            return read_json(self.body)
        except InvalidRequest as error:
            raise Refused(error_answer(400, "invalid JSON", details=error.problems)) from error


@attrs.frozen
class Route:
    """One path and method, who answers them, and what a body may be."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    answer: Callable[[Request], Awaitable[Answer]]
    takes: tuple[str, ...] = (JSON,)
