"""Routes that store events and hooks' reports, and list events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiro_learn.config import ServerConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.http.answers import JSON, Answer, Refused, error_answer, json_answer
from kiro_learn.frontends.http.operations import choice, flag, integer, optional_namespace, optional_text
from kiro_learn.frontends.http.routes import NDJSON, OCTETS, Request, Route
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.stored import KINDS
from kiro_learn.services.capture import Outcome
from kiro_learn.services.services import Services
from kiro_learn.wire.hook_payload import answer_to
from kiro_learn.wire.messages import (
    error_refusal,
    read_event,
    retrieval_answer,
    stored_answer,
    write_event,
    write_lines,
    write_value,
)

RETRIEVE = flag("retrieve", "Also return the memories for a prompt, or for the note that starts a session.")
UNLESS_REPORTED = flag(
    "unless_reported", "Also treat as a repeat the same step that a hook reported within 5 seconds under another id."
)
NAMESPACE = optional_namespace("namespace", "Only of this project.")
LIMIT = integer("limit", "The most events of a page.", default=50, least=1, most=200)
CURSOR = optional_text("cursor", "The next_cursor of the previous page.")

MOST_LINES = 1_000
MOST_BATCH_BYTES = 8 * 1_048_576

HOOK_HEADERS = "x-hook-"
TEXT = "text/plain; charset=utf-8"
PENDING = {"X-Hook-Stored": "pending"}
"""The shim reads this header, and then spools the request that it has sent."""


def intake_routes(services: Services, config: ServerConfig) -> Iterator[Route]:
    """The routes that are used at every step of an agent."""

    async def take(request: Request) -> Answer:
        retrieves = RETRIEVE.read(request.query)
        event = read_event(request.json())
        answering = {EventKind.PROMPT: services.prompt.take, EventKind.NOTE: services.session_start.take}
        if retrieves and event.kind in answering:
            captured, told = await answering[event.kind](event)
            retrieval = retrieval_answer(
                told.context, told.record_ids, latency_ms=told.latency_ms, degraded=told.degraded
            )
            return json_answer({**stored_answer(captured.event_id, captured.stored), "retrieval": retrieval})
        captured = await services.capture.take(event)
        return json_answer(stored_answer(captured.event_id, captured.stored))

    async def take_batch(request: Request) -> Answer:
        lines = {number: line for number, line in enumerate(request.body.split(b"\n"), start=1) if line.strip()}
        if len(lines) > MOST_LINES:
            hint = f"Send at most {MOST_LINES} events at a time."
            raise Refused(error_answer(413, "too many events", hint=hint))
        outcomes = await services.capture.take_lines(
            list(lines.values()),
            most_bytes=config.max_body_bytes,
            unless_reported=UNLESS_REPORTED.read(request.query),
        )
        answers = ({"line": number, **_outcome(each)} for number, each in zip(lines, outcomes, strict=True))
        return Answer(write_lines(answers), content_type=NDJSON)

    async def take_hook(request: Request) -> Answer:
        agent, retrieves = request.path["agent"], RETRIEVE.read(request.query)
        said = {name: value for name, value in request.headers.items() if name.startswith(HOOK_HEADERS)}
        answered = await services.hooks.take(agent, request.body, said, retrieve=retrieves)
        text = answer_to(
            agent, answered.context, is_at_start=answered.is_at_start, is_before_tool=answered.is_before_tool
        )
        return Answer(
            text.encode("utf-8", "replace"), content_type=TEXT, headers=PENDING if answered.is_pending else {}
        )

    yield Route("POST", "/v1/events", take, parameters=(RETRIEVE,))
    yield Route("POST", "/v1/events/batch", take_batch, (NDJSON,), MOST_BATCH_BYTES, parameters=(UNLESS_REPORTED,))
    yield Route("POST", "/v1/hooks/<agent>", take_hook, takes=(JSON, OCTETS), parameters=(RETRIEVE,))


def event_routes(services: Services) -> Iterator[Route]:
    async def listed(request: Request) -> Answer:
        page = await services.queries.events(
            namespace=NAMESPACE.read(request.query), limit=LIMIT.read(request.query), cursor=CURSOR.read(request.query)
        )
        items = [write_event(event) for event in page.items]
        damaged = list(page.damaged)
        return json_answer({"items": items, "total": page.total, "next_cursor": page.next_cursor, "damaged": damaged})

    async def read(request: Request) -> Answer:
        event = await services.queries.event(EventId(request.path["event_id"]))
        return error_answer(404, "no event has this id") if event is None else json_answer(write_event(event))

    yield Route("GET", "/v1/events", listed, parameters=(NAMESPACE, LIMIT, CURSOR))
    yield Route("GET", "/v1/events/<event_id>", read)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, KiroLearnError):
        return error_refusal(outcome)
    return stored_answer(outcome.event_id, outcome.stored)


# Routes that export all that is kept as lines of JSON, and take such lines back.

EVERYTHING = "everything"
KIND = choice("kind", "The kind of lines to export.", options=(EVERYTHING, *KINDS))

MOST_BYTES = 16 * 1024 * 1024
"""The most bytes of lines in one request: a line may hold an event of the largest size, in its longest spelling."""


def export_routes(services: Services) -> Iterator[Route]:
    async def export(request: Request) -> Answer:
        kind = KIND.read(request.query)
        lines = await services.export.lines(KINDS if kind == EVERYTHING else (kind,))
        return Answer(b"", content_type=NDJSON, stream=lines)

    yield Route("GET", "/v1/export", export, parameters=(KIND,))


def restore_routes(services: Services) -> Iterator[Route]:
    """A route of the intake, because a line is longer than the body of any other request."""

    async def take(request: Request) -> Answer:
        return json_answer(write_value(await services.export.take(request.body.split(b"\n"))))

    yield Route("POST", "/v1/export/import", take, takes=(NDJSON,), max_body_bytes=MOST_BYTES)
