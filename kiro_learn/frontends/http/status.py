"""Routes that show whether the daemon runs, its state, and its counts."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import optional_namespace
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.version import __version__
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

NAMESPACE = optional_namespace("namespace", "Of this project alone.")


def status_routes(services: Services) -> Iterator[Route]:
    async def healthz(_request: Request) -> Answer:
        health = services.health
        return json_answer({"status": "ok", "version": __version__, "pid": health.pid, "build": health.build})

    async def status(_request: Request) -> Answer:
        return json_answer(write_value(await services.health.status()))

    async def stats(request: Request) -> Answer:
        counts = await services.queries.stats(NAMESPACE.read(request.query))
        projects = await services.queries.projects()
        return json_answer({**write_value(counts), "projects": write_value(projects)})

    yield Route("GET", "/healthz", healthz)
    yield Route("GET", "/v1/status", status)
    yield Route("GET", "/v1/stats", stats, parameters=(NAMESPACE,))
