"""Routes that take the records of clients, one a request, and that correct a stored record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, value_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.frontends.http.status import EmbeddingFigures
from kiro_learn.model.checks import length
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import MAX_PROJECT, Checkpoint, KnowledgeItem, Observation
from kiro_learn.services.observe import Observed
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import read_handed_in


@attrs.frozen(kw_only=True)
class Stored:
    """The answer if the record was stored."""

    id: str
    stored: Literal[True]


@attrs.frozen(kw_only=True)
class Repeated:
    """The answer if the record repeats a recent one, and was not stored."""

    duplicate_of: str
    differs: tuple[str, ...]


OBSERVE = Operation("Store an observation as a memory.", body=Observation, answer=Stored | Repeated)
ADD_KNOWLEDGE = Operation("Store an item of knowledge as a memory.", body=KnowledgeItem, answer=Stored | Repeated)
ADD_CHECKPOINT = Operation("Store a summary of where a session stands.", body=Checkpoint, answer=Stored | Repeated)


def observation_routes(services: Services) -> Iterator[Route]:
    async def observe(request: Request) -> Answer:
        return _answer(await services.observe.observe(read_handed_in(request.json(), Observation)))

    async def add_knowledge(request: Request) -> Answer:
        return _answer(await services.observe.add_knowledge(read_handed_in(request.json(), KnowledgeItem)))

    async def add_checkpoint(request: Request) -> Answer:
        return _answer(await services.observe.add_checkpoint(read_handed_in(request.json(), Checkpoint)))

    yield Route("POST", "/api/observations", observe, about=OBSERVE)
    yield Route("POST", "/api/knowledge", add_knowledge, about=ADD_KNOWLEDGE)
    yield Route("POST", "/api/checkpoints", add_checkpoint, about=ADD_CHECKPOINT)


def _answer(observed: Observed) -> Answer:
    if observed.is_repeat:
        return value_answer(Repeated(duplicate_of=observed.record_id, differs=observed.differs))
    return value_answer(Stored(id=observed.record_id, stored=True))


MAX_ID = 100


@attrs.frozen(kw_only=True)
class MemoryEdited(Correction):
    """A memory, and the changes to it."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    id: str = attrs.field(validator=length(1, MAX_ID))
    """The id of the memory, or its end, if only one id in the project ends so."""


@attrs.frozen(kw_only=True)
class Replaced:
    """The memory that is now in the place of another one."""

    id: str
    replaced: str


EDIT = Operation(
    "Replace a memory with a corrected one; fields that are left out stay.", body=MemoryEdited, answer=Replaced
)


def edit_routes(services: Services) -> Iterator[Route]:
    async def edit(request: Request) -> Answer:
        wanted: MemoryEdited = EDIT.read(request.json())
        records = services.project_records
        old = await records.one(wanted.project, RecordId(wanted.id))
        edited = await records.edit(wanted.project, old.record_id, wanted)
        return value_answer(Replaced(id=edited.record_id, replaced=old.record_id))

    yield Route("POST", "/v1/memories/edit", edit, about=EDIT)


# How much of the memory can be found by meaning, and embedding the rest, as the search guide shows it.


@attrs.frozen(kw_only=True)
class Embedded:
    """How many records got their vector now."""

    embedded: int


STATS = Operation("How many records have a vector.", answer=EmbeddingFigures)
BACKFILL = Operation(
    "Make the vector of every record that lacks one; the body may be left out.",
    answer=Embedded,
    schema={"type": "object", "properties": {"batchSize": {"type": "integer", "minimum": 1}}},
)


def embedding_routes(services: Services) -> Iterator[Route]:
    async def stats(_request: Request) -> Answer:
        return value_answer(EmbeddingFigures.of(await services.learn.embedding_state(), services.health.embedder()))

    async def backfill(request: Request) -> Answer:
        _check_batch_size(request.json() if request.body else {})
        return value_answer(Embedded(embedded=await services.learn.backfill()))

    yield Route("GET", "/api/embeddings/stats", stats, about=STATS)
    yield Route("POST", "/api/embeddings/backfill", backfill, about=BACKFILL)


def _check_batch_size(body: Any) -> None:
    """Check the value and ignore it: all records are embedded, in batches of our own size."""
    if not isinstance(body, dict):
        raise InvalidRequest([("$", "expected an object")])
    size = body.get("batchSize", 1)
    if type(size) is not int or size < 1:
        raise InvalidRequest([("$.batchSize", "expected a whole number of at least 1")])
