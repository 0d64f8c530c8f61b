"""Routes that show how the last prompts were answered."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.retrieval_log import KEPT
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

DEFAULT_LIMIT = 50


def retrieval_routes(services: Services) -> Iterator[Route]:
    async def latest(request: Request) -> Answer:
        namespace = request.query.optional_namespace()
        limit = request.query.integer("limit", default=DEFAULT_LIMIT, least=1, most=KEPT)
        items = services.retrievals.latest(namespace=namespace, limit=limit)
        rates = services.retrievals.rates(namespace=namespace)
        return json_answer({"items": write_value(items), "rates": write_value(rates)})

    yield Route("GET", "/v1/retrievals", latest)
