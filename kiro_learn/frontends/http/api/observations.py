"""What is captured directly: observations, knowledge and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.services.observe import Observed
from kiro_learn.services.services import Services
from kiro_learn.wire.observations import read_handed_in

OBSERVED = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"id": {"type": "string"}, "stored": {"const": True}},
            "required": ["id", "stored"],
        },
        {
            "type": "object",
            "properties": {
                "duplicate_of": {"type": "string"},
                "differs": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["duplicate_of", "differs"],
        },
    ]
}


def observation_routes(services: Services) -> Iterator[Route]:
    async def observe(request: Request) -> Answer:
        return _answer(await services.observe.observe(read_handed_in(request.json(), Observation)))

    async def add_knowledge(request: Request) -> Answer:
        return _answer(await services.observe.add_knowledge(read_handed_in(request.json(), KnowledgeItem)))

    async def add_checkpoint(request: Request) -> Answer:
        return _answer(await services.observe.add_checkpoint(read_handed_in(request.json(), Checkpoint)))

    yield Route(
        "POST",
        "/api/observations",
        observe,
        about=Operation(summary="Keep an observation as it is.", body=Observation, answer=OBSERVED),
    )
    yield Route(
        "POST",
        "/api/knowledge",
        add_knowledge,
        about=Operation(summary="Keep an item of knowledge.", body=KnowledgeItem, answer=OBSERVED),
    )
    yield Route(
        "POST",
        "/api/checkpoints",
        add_checkpoint,
        about=Operation(summary="Keep where a session stands.", body=Checkpoint, answer=OBSERVED),
    )


def _answer(observed: Observed) -> Answer:
    if observed.is_repeat:
        return json_answer({"duplicate_of": observed.record_id, "differs": observed.differs})
    return json_answer({"id": observed.record_id, "stored": True})
