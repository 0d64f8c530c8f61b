"""What is shared with a team: how it stands, comparing both sides now, and what stays here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services
from kiro_learn.services.sharing import SharingStatus
from kiro_learn.wire.messages import write_record, write_value
from kiro_learn.wire.structuring import new_converter, structure


@attrs.frozen(kw_only=True)
class WithholdAsked:
    """A memory, and whether it is to stay on this machine."""

    record_id: str = attrs.field(validator=length(1, 128))
    withheld: bool = True


STATUS = Operation(summary="What is shared with a team, and what others share.")
COMPARE = Operation(summary="Share, take back and receive now what the next comparison would.")
WITHHOLD = Operation(
    summary="Take a memory back, and let it stay on this machine; or let it be shared again.",
    body=WithholdAsked,
    takes_unknown_keys=False,
)

_converter = new_converter(forbid_extra_keys=True)


def sharing_routes(services: Services) -> Iterator[Route]:
    async def status(_request: Request) -> Answer:
        return json_answer(_written(services.sharing.status))

    async def compare(_request: Request) -> Answer:
        return json_answer(_written(await services.sharing.compare()))

    async def withhold(request: Request) -> Answer:
        asked = structure(_converter, request.json(), WithholdAsked)
        record = await services.sharing.withhold(RecordId(asked.record_id), is_withheld=asked.withheld)
        return json_answer({"withheld": asked.withheld, "memory": write_record(record)})

    yield Route("GET", "/api/share", status, about=STATUS)
    yield Route("POST", "/api/share", compare, about=COMPARE)
    yield Route("POST", "/api/share/withhold", withhold, about=WITHHOLD)


def _written(status: SharingStatus) -> dict[str, Any]:
    written: dict[str, Any] = write_value(status)
    return written
