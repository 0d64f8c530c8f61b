"""What an agent would be told with a prompt, and how each memory of it was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.feedback import feedback_value
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length
from kiro_learn.model.event import TextBody
from kiro_learn.model.feedback import FeedbackCounts
from kiro_learn.model.observation import MAX_PROJECT
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FoundRecord
from kiro_learn.services.services import Services
from kiro_learn.wire.structuring import new_converter, structure

MAX_PROMPT = 1_000_000


@attrs.frozen
class Prompted:
    """A prompt, and the project in which it would be asked."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    prompt: str = attrs.field(validator=length(1, MAX_PROMPT))


FOUND = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("id", "title", "type")},
        "score": {"type": "number"},
        "found_by": {"type": "array", "items": {"enum": ["words", "meaning"]}},
        "told": {"type": "boolean"},
        "feedback": {"type": "object"},
        "branch": {"type": "string"},
        "is_of_branch": {"type": "boolean"},
    },
    "required": ["id", "title", "type", "score", "found_by", "told", "feedback"],
}
RECALL = Operation(
    summary="What an agent would be told with a prompt, and how it was found.",
    body=Prompted,
    answer={
        "type": "object",
        "properties": {
            "project": {"type": "string"},
            "context": {"type": "string"},
            "records": {"type": "array", "items": {"type": "string"}},
            "found": {"type": "array", "items": FOUND},
            "degraded": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["project", "context", "records", "found", "degraded"],
    },
)

_converter = new_converter()


def recall_routes(services: Services) -> Iterator[Route]:
    async def recall(request: Request) -> Answer:
        asked = structure(_converter, request.json(), Prompted)
        named = await services.project_names.resolve(asked.project)
        told = await services.recall.answer(
            named.namespace, TextBody(asked.prompt), folder=named.folder, branch=named.branch
        )
        found = {each.record_id: each for each in told.found}
        records = (await services.project_records.read(named.namespace, list(found))).records
        return json_answer(
            {
                "project": named.name,
                "context": told.context,
                "records": list(told.record_ids),
                "found": [
                    _found(found[record.record_id], record, services.aftermath.counts_of(record.record_id))
                    for record in records
                ],
                "degraded": list(told.degraded),
            }
        )

    yield Route("POST", "/api/recall", recall, about=RECALL)


def _found(found: FoundRecord, record: MemoryRecord, counts: FeedbackCounts) -> Mapping[str, Any]:
    return {
        "id": record.record_id,
        "title": record.title,
        "type": record.type_name,
        "score": found.score,
        "found_by": list(found.found_by),
        "told": found.shown,
        "feedback": feedback_value(counts),
        **({} if record.branch is None else {"branch": record.branch, "is_of_branch": found.is_of_branch}),
    }
