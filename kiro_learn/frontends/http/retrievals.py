"""Routes that show how the last prompts were answered."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import integer, optional_namespace
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.retrieval_log import KEPT
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

NAMESPACE = optional_namespace("namespace", "Of this project alone.")
LIMIT = integer("limit", "Most prompts.", default=50, least=1, most=KEPT)


def retrieval_routes(services: Services) -> Iterator[Route]:
    async def latest(request: Request) -> Answer:
        namespace, limit = NAMESPACE.read(request.query), LIMIT.read(request.query)
        items = services.retrievals.latest(namespace=namespace, limit=limit)
        rates = services.retrievals.rates(namespace=namespace)
        return json_answer({"items": write_value(items), "rates": write_value(rates)})

    yield Route("GET", "/v1/retrievals", latest, parameters=(NAMESPACE, LIMIT))
