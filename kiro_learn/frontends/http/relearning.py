"""Learning again by a model what was learned without one: what that would do, and doing it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.desk import Desk
from kiro_learn.wire.messages import write_value


def relearning_routes(desk: Desk) -> Iterator[Route]:
    async def preview(request: Request) -> Answer:
        since = _moment(request.query.optional_text("since"), "since")
        return json_answer(write_value(await desk.relearn.preview(request.path["project_id"], since=since)))

    async def relearn(request: Request) -> Answer:
        since = _since(request.json() if request.body else {})
        return json_answer(write_value(await desk.relearn.relearn(request.path["project_id"], since=since)))

    yield Route("GET", "/v1/projects/<project_id>/relearn", preview)
    yield Route("POST", "/v1/projects/<project_id>/relearn", relearn)


def _since(body: Any) -> datetime | None:
    if not isinstance(body, dict):
        raise InvalidRequest([("$", "expected an object")])
    return _moment(body.get("since"), "$.since")


def _moment(value: Any, place: str) -> datetime | None:
    """A date is its first moment, and what names no zone is UTC."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRequest(
            [(place, "expected an ISO 8601 date or time, as 2026-01-05 or 2026-01-05T12:00Z")]
        ) from error
