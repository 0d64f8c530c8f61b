"""Routes that take what somebody says of a memory that was told, and that show what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.feedback import Feedback, FeedbackCounts
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services
from kiro_learn.wire.structuring import new_converter, structure

FACTOR_DIGITS = 3


@attrs.frozen
class Said:
    """What somebody says of a memory."""

    feedback: Literal["helped", "wrong"]


_converter = new_converter()


def feedback_routes(services: Services) -> Iterator[Route]:
    async def say(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        counts = await services.aftermath.say(record_id, said_in(request))
        return json_answer({"record_id": record_id, **feedback_value(counts)})

    async def read(request: Request) -> Answer:
        record = await services.queries.record(RecordId(request.path["record_id"]))
        counts = services.aftermath.counts_of(record.record_id)
        return json_answer({"record_id": record.record_id, **feedback_value(counts)})

    yield Route("POST", "/v1/memories/<record_id>/feedback", say)
    yield Route("GET", "/v1/memories/<record_id>/feedback", read)


def said_in(request: Request) -> Feedback:
    """What the body says. Raises InvalidRequest."""
    return Feedback(structure(_converter, request.json(), Said).feedback)


def feedback_value(counts: FeedbackCounts) -> Mapping[str, Any]:
    """How often each became of it, and what its score is multiplied by."""
    return {**attrs.asdict(counts), "factor": round(counts.factor, FACTOR_DIGITS)}
