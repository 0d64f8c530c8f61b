"""Routes that find the project of a folder, and learn a project's events now."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.query import wrong
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value


def project_routes(services: Services) -> Iterator[Route]:
    async def namespace(request: Request) -> Answer:
        folder = request.query.text("cwd")
        if not folder.startswith("/"):
            raise wrong("cwd must be an absolute path", "cwd", "expected an absolute path")
        return json_answer(write_value(await services.project_finder.project_of(folder)))

    async def flush(request: Request) -> Answer:
        flushed = await services.learn.flush(request.path["project_id"])
        return json_answer(
            {"events": flushed.event_count, "records": flushed.record_count, "parked": flushed.parked_count}
        )

    yield Route("GET", "/v1/namespace", namespace)
    yield Route("POST", "/v1/projects/<project_id>/flush", flush)
