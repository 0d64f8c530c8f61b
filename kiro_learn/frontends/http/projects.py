"""Routes that find the project of a folder, learn its events now, and preview and start a relearning.

In a relearning, a model learns again what was learned without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import optional_text, required_folder
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

FOLDER = required_folder("cwd", "A folder in the project.")


def project_routes(services: Services) -> Iterator[Route]:
    async def namespace(request: Request) -> Answer:
        return json_answer(write_value(await services.project_finder.project_of(FOLDER.read(request.query))))

    async def flush(request: Request) -> Answer:
        flushed = await services.learn.flush(request.path["project_id"])
        return json_answer(
            {"events": flushed.event_count, "records": flushed.record_count, "parked": flushed.parked_count}
        )

    yield Route("GET", "/v1/namespace", namespace, parameters=(FOLDER,))
    yield Route("POST", "/v1/projects/<project_id>/flush", flush)


SINCE = optional_text("since", "Only events from then or later.")


def relearning_routes(services: Services) -> Iterator[Route]:
    async def preview(request: Request) -> Answer:
        since = _moment(SINCE.read(request.query), SINCE.name)
        return json_answer(write_value(await services.relearn.preview(request.path["project_id"], since=since)))

    async def relearn(request: Request) -> Answer:
        body = _object(request.json() if request.body else {})
        since, accept_few = _moment(body.get("since"), "$.since"), _flag(body, "accept_few")
        if _flag(body, "graph"):
            return json_answer(write_value(await services.relearn.read_graph(request.path["project_id"], since=since)))
        relearned = await services.relearn.relearn(request.path["project_id"], since=since, accept_few=accept_few)
        return json_answer(write_value(relearned))

    yield Route("GET", "/v1/projects/<project_id>/relearn", preview, parameters=(SINCE,))
    yield Route("POST", "/v1/projects/<project_id>/relearn", relearn)


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise InvalidRequest([("$", "expected an object")])
    return body


def _flag(body: dict[str, Any], name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InvalidRequest([(f"$.{name}", "expected true or false")])
    return value


def _moment(value: Any, place: str) -> datetime | None:
    """The moment of a value: a date means its first moment, and a time without an offset is in UTC."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRequest(
            [(place, "expected an ISO 8601 date or time, as 2026-01-05 or 2026-01-05T12:00Z")]
        ) from error
