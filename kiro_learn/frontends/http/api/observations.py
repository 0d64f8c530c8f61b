"""Routes that take in what clients store directly, one record a request, and that correct a stored one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.frontends.http.status import stats_value
from kiro_learn.model.checks import length
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import MAX_PROJECT, Checkpoint, KnowledgeItem, Observation
from kiro_learn.services.observe import Observed
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import read_handed_in
from kiro_learn.wire.structuring import new_converter, structure

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


MAX_ID = 100


@attrs.frozen(kw_only=True)
class MemoryEdited(Correction):
    """A memory, and what is to be changed about it."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    id: str = attrs.field(validator=length(1, MAX_ID))
    """Of the memory, or its end, if only one of the project ends so."""


EDIT = Operation(
    summary="Put a corrected memory in the place of one; what is left out stays.",
    body=MemoryEdited,
    answer={
        "type": "object",
        "properties": {"id": {"type": "string"}, "replaced": {"type": "string"}},
        "required": ["id", "replaced"],
    },
)

_converter = new_converter()


def edit_routes(services: Services) -> Iterator[Route]:
    async def edit(request: Request) -> Answer:
        wanted = structure(_converter, request.json(), MemoryEdited)
        records = services.project_records
        old = await records.one(wanted.project, RecordId(wanted.id))
        edited = await records.edit(wanted.project, old.record_id, wanted)
        return json_answer({"id": edited.record_id, "replaced": old.record_id})

    yield Route("POST", "/v1/memories/edit", edit, about=EDIT)


# How much of the memory can be found by meaning, and catching up, as the search guide shows it.

STATS = Operation(
    summary="How many records have a vector.",
    answer={
        "type": "object",
        "properties": {
            "total": {"type": "integer"},
            "embedded": {"type": "integer"},
            "percentage": {"type": "number", "minimum": 0, "maximum": 100},
            "provider": {"type": "string"},
            "dimensions": {"type": ["integer", "null"]},
            "available": {"type": "boolean"},
        },
        "required": ["total", "embedded", "percentage", "provider", "dimensions", "available"],
    },
)
BACKFILL = Operation(
    summary="Give every record its vector; the body may be left out.",
    answer={"type": "object", "properties": {"embedded": {"type": "integer"}}, "required": ["embedded"]},
    schema={"type": "object", "properties": {"batchSize": {"type": "integer", "minimum": 1}}},
)


def embedding_routes(services: Services) -> Iterator[Route]:
    async def stats(_request: Request) -> Answer:
        return json_answer(stats_value(await services.learn.embedding_state(), services.health.embedder()))

    async def backfill(request: Request) -> Answer:
        _check_batch_size(request.json() if request.body else {})
        return json_answer({"embedded": await services.learn.backfill()})

    yield Route("GET", "/api/embeddings/stats", stats, about=STATS)
    yield Route("POST", "/api/embeddings/backfill", backfill, about=BACKFILL)


def _check_batch_size(body: Any) -> None:
    """All records are embedded, in batches of our own; what is asked for only has to make sense."""
    if not isinstance(body, dict):
        raise InvalidRequest([("$", "expected an object")])
    size = body.get("batchSize", 1)
    if type(size) is not int or size < 1:
        raise InvalidRequest([("$.batchSize", "expected a whole number of at least 1")])
