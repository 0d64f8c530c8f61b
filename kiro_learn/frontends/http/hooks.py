"""What agents' hooks report, in each agent's own words; the answer is what the hook prints."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import JSON, Answer
from kiro_learn.frontends.http.routes import OCTETS, Request, Route
from kiro_learn.services.services import Services
from kiro_learn.wire.hooks import answer_to

HOOK_HEADERS = "x-hook-"
TEXT = "text/plain; charset=utf-8"
PENDING = {"X-Hook-Stored": "pending"}
"""Read by the shim, which then spools what it has sent."""


def hook_routes(services: Services) -> Iterator[Route]:
    async def take(request: Request) -> Answer:
        agent = request.path["agent"]
        said = {name: value for name, value in request.headers.items() if name.startswith(HOOK_HEADERS)}
        answered = await services.hooks.take(agent, request.body, said, retrieve=request.query.flag("retrieve"))
        text = answer_to(agent, answered.context).encode("utf-8", "replace")
        return Answer(text, content_type=TEXT, headers=PENDING if answered.is_pending else {})

    yield Route("POST", "/v1/hooks/<agent>", take, takes=(JSON, OCTETS))
