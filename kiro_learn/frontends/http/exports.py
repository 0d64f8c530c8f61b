"""Routes that give all that is kept as lines of JSON, and take such lines back."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import choice
from kiro_learn.frontends.http.routes import NDJSON, Request, Route
from kiro_learn.model.stored import KINDS
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

EVERYTHING = "everything"
KIND = choice("kind", "One kind of line alone.", options=(EVERYTHING, *KINDS))

MOST_BYTES = 16 * 1024 * 1024
"""Of lines that are taken at once: as long as one with an event of the largest size that JSON can spell at length."""


def export_routes(services: Services) -> Iterator[Route]:
    async def export(request: Request) -> Answer:
        kind = KIND.read(request.query)
        lines = await services.export.lines(KINDS if kind == EVERYTHING else (kind,))
        return Answer(b"", content_type=NDJSON, stream=lines)

    yield Route("GET", "/v1/export", export, parameters=(KIND,))


def restore_routes(services: Services) -> Iterator[Route]:
    """Of the intake: a line is longer than the body of any other request."""

    async def take(request: Request) -> Answer:
        return json_answer(write_value(await services.export.take(request.body.split(b"\n"))))

    yield Route("POST", "/v1/export/import", take, takes=(NDJSON,), max_body_bytes=MOST_BYTES)
