"""What agents' hooks report, in each agent's own words; the answer is what the hook prints."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import JSON, Answer
from kiro_learn.frontends.http.routes import OCTETS, Request, Route
from kiro_learn.services.desk import Desk
from kiro_learn.wire.hooks import answer_to

HOOK_HEADERS = "x-hook-"
TEXT = "text/plain; charset=utf-8"


def hook_routes(desk: Desk) -> Iterator[Route]:
    async def take(request: Request) -> Answer:
        agent = request.path["agent"]
        said = {name: value for name, value in request.headers.items() if name.startswith(HOOK_HEADERS)}
        context = await desk.hooks.take(agent, request.body, said, retrieve=request.query.flag("retrieve"))
        return Answer(answer_to(agent, context).encode("utf-8", "replace"), content_type=TEXT)

    yield Route("POST", "/v1/hooks/<agent>", take, takes=(JSON, OCTETS))
