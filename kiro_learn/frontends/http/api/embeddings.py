"""How much of the memory can be found by meaning, and catching up, as the search guide shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.frontends.http.status import stats_value
from kiro_learn.services.services import Services

STATS = Operation(
    summary="How many records have a vector.",
    answer={
        "type": "object",
        "properties": {
            "total": {"type": "integer"},
            "embedded": {"type": "integer"},
            "percentage": {"type": "number", "minimum": 0, "maximum": 100},
            "provider": {"type": "string"},
            "dimensions": {"type": ["integer", "null"]},
            "available": {"type": "boolean"},
        },
        "required": ["total", "embedded", "percentage", "provider", "dimensions", "available"],
    },
)
BACKFILL = Operation(
    summary="Give every record its vector; the body may be left out.",
    answer={"type": "object", "properties": {"embedded": {"type": "integer"}}, "required": ["embedded"]},
    schema={"type": "object", "properties": {"batchSize": {"type": "integer", "minimum": 1}}},
)


def embedding_routes(services: Services) -> Iterator[Route]:
    async def stats(_request: Request) -> Answer:
        return json_answer(stats_value(await services.learn.embedding_state(), services.health.embedder()))

    async def backfill(request: Request) -> Answer:
        _check_batch_size(request.json() if request.body else {})
        return json_answer({"embedded": await services.learn.backfill()})

    yield Route("GET", "/api/embeddings/stats", stats, about=STATS)
    yield Route("POST", "/api/embeddings/backfill", backfill, about=BACKFILL)


def _check_batch_size(body: Any) -> None:
    """All records are embedded, in batches of our own; what is asked for only has to make sense."""
    if not isinstance(body, dict):
        raise InvalidRequest([("$", "expected an object")])
    size = body.get("batchSize", 1)
    if type(size) is not int or size < 1:
        raise InvalidRequest([("$.batchSize", "expected a whole number of at least 1")])
