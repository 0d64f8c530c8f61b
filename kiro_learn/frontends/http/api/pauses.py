"""Pauses: what is neither taken in nor told for a while."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.api.search import PROJECT
from kiro_learn.frontends.http.operations import Operation, optional_text
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length, optional
from kiro_learn.model.namespace import Pause
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value
from kiro_learn.wire.structuring import new_converter, structure

SESSION = optional_text("session", "Of this session alone.")


@attrs.frozen(kw_only=True)
class PauseAsked:
    """What is to be paused."""

    project: str = attrs.field(validator=length(1, 4096))
    session: str | None = attrs.field(default=None, validator=optional(length(1, 128)))


LIST = Operation(summary="What is paused now.")
PAUSE = Operation(
    summary="Drop what hooks report of a project or a session, and tell its prompts nothing.", body=PauseAsked
)
RESUME = Operation(summary="End a pause.", parameters=(PROJECT, SESSION))

_converter = new_converter(forbid_extra_keys=True)


def pause_routes(services: Services) -> Iterator[Route]:
    async def listed(_request: Request) -> Answer:
        return json_answer({"pauses": [_written(each) for each in services.pauses.list()]})

    async def pause(request: Request) -> Answer:
        asked = structure(_converter, request.json(), PauseAsked)
        named = await services.project_names.resolve(asked.project)
        return json_answer(_written(await services.pauses.pause(named.namespace, asked.session)))

    async def resume(request: Request) -> Answer:
        project, session = PROJECT.read(request.query), SESSION.read(request.query)
        named = await services.project_names.resolve(project)
        return json_answer({"resumed": await services.pauses.resume(named.namespace, session)})

    yield Route("GET", "/api/pauses", listed, about=LIST)
    yield Route("POST", "/api/pauses", pause, about=PAUSE)
    yield Route("DELETE", "/api/pauses", resume, about=RESUME)


def _written(pause: Pause) -> dict[str, Any]:
    return {"namespace": pause.namespace, "session": pause.session_id, "since": write_value(pause.since)}
