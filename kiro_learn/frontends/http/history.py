"""Routes that list what a memory replaced, and undo a replacement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_record, write_value


def history_routes(services: Services) -> Iterator[Route]:
    async def read(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        replacements = [_written(each) for each in await services.history.of(record_id)]
        return json_answer({"record_id": record_id, "replacements": replacements})

    async def undo(request: Request) -> Answer:
        undone = await services.history.undo(RecordId(request.path["record_id"]))
        restored = [record.record_id for record in undone.replaced]
        return json_answer({"undone": undone.replacement_id, "removed": list(undone.replacing), "restored": restored})

    yield Route("GET", "/v1/memories/<record_id>/history", read)
    yield Route("POST", "/v1/memories/<record_id>/undo", undo)


def _written(replacement: Replacement) -> dict[str, Any]:
    return {
        "replacement_id": replacement.replacement_id,
        "reason": replacement.reason,
        "replaced_at": write_value(replacement.replaced_at),
        "replacing": list(replacement.replacing),
        "replaced": [write_record(record) for record in replacement.replaced],
    }
