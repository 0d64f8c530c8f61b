"""Correcting a memory of a project."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import MAX_PROJECT
from kiro_learn.services.services import Services
from kiro_learn.wire.structuring import new_converter, structure

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
