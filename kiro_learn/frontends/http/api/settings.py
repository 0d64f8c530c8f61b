"""The settings, each with where it comes from; read-only."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

SETTINGS = Operation(
    summary="The settings, each with where it comes from.",
    answer={
        "type": "object",
        "properties": {"settings": {"type": "array", "items": {"type": "object"}}},
        "required": ["settings"],
    },
)


def settings_routes(services: Services) -> Iterator[Route]:
    async def settings(_request: Request) -> Answer:
        return json_answer({"settings": [write_value(each) for each in await services.health.settings()]})

    yield Route("GET", "/api/settings", settings, about=SETTINGS)
