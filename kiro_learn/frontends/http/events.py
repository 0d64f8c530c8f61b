"""What agents did: taken in as events or as their hooks report it, and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiro_learn.frontends.http.answers import JSON, Answer, json_answer
from kiro_learn.frontends.http.routes import OCTETS, Request, Route
from kiro_learn.model.event import EventKind
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.services.capture import Captured
from kiro_learn.services.services import Services
from kiro_learn.wire.hooks import answer_to
from kiro_learn.wire.messages import read_event, write_event

DEFAULT_LIMIT, MOST = 50, 200


HOOK_HEADERS = "x-hook-"
TEXT = "text/plain; charset=utf-8"
PENDING = {"X-Hook-Stored": "pending"}
"""Read by the shim, which then spools what it has sent."""


def intake_routes(services: Services) -> Iterator[Route]:
    """What comes with every step of an agent."""

    async def take(request: Request) -> Answer:
        event = read_event(request.json())
        if request.query.flag("retrieve") and event.kind is EventKind.PROMPT:
            captured, retrieval = await services.prompt.take(event)
            return json_answer({**_written(captured), "retrieval": _told(retrieval)})
        return json_answer(_written(await services.capture.take(event)))

    async def take_hook(request: Request) -> Answer:
        agent = request.path["agent"]
        said = {name: value for name, value in request.headers.items() if name.startswith(HOOK_HEADERS)}
        answered = await services.hooks.take(agent, request.body, said, retrieve=request.query.flag("retrieve"))
        text = answer_to(agent, answered.context).encode("utf-8", "replace")
        return Answer(text, content_type=TEXT, headers=PENDING if answered.is_pending else {})

    yield Route("POST", "/v1/events", take)
    yield Route("POST", "/v1/hooks/<agent>", take_hook, takes=(JSON, OCTETS))


def event_routes(services: Services) -> Iterator[Route]:
    async def listed(request: Request) -> Answer:
        page = await services.queries.events(
            namespace=request.query.optional_namespace(),
            limit=request.query.integer("limit", default=DEFAULT_LIMIT, least=1, most=MOST),
            cursor=request.query.optional_text("cursor"),
        )
        items = [write_event(event) for event in page.items]
        damaged = list(page.damaged)
        return json_answer({"items": items, "total": page.total, "next_cursor": page.next_cursor, "damaged": damaged})

    yield Route("GET", "/v1/events", listed)


def _written(captured: Captured) -> dict[str, Any]:
    return {"event_id": captured.event_id, "stored": captured.stored}


def _told(retrieval: Retrieval) -> dict[str, Any]:
    return {
        "context": retrieval.context,
        "records": list(retrieval.record_ids),
        "latency_ms": retrieval.latency_ms,
        "degraded": list(retrieval.degraded),
    }
