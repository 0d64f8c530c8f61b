"""Routes that find the project of a folder, and learn a project's events now."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import required_folder
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
