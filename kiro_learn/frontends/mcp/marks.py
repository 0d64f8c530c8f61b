"""The tools by which a user's agent marks one memory: judged, pinned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import attrs

from kiro_learn.model.feedback import Feedback
from kiro_learn.model.ids import RecordId
from kiro_learn.services.project_names import NamedProject
from kiro_learn.services.services import Services

Arguments: TypeAlias = Mapping[str, Any]

FACTOR_DIGITS = 3


async def judge(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    """Raises UnknownRecord: the project has none of this id."""
    record = await services.project_records.one(project, RecordId(arguments["id"]))
    counts = await services.aftermath.say(record.record_id, Feedback(arguments["feedback"]))
    return {"id": record.record_id, **attrs.asdict(counts), "factor": round(counts.factor, FACTOR_DIGITS)}


async def pin(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    """Raises UnknownRecord: the project has none of this id."""
    record = await services.project_records.one(project, RecordId(arguments["id"]))
    set_so = services.history.pin if arguments["pinned"] else services.history.unpin
    return {"id": record.record_id, "pinned": (await set_so(record.record_id)).pinned_at is not None}


CALLS: dict[str, Callable[[Services, NamedProject, Arguments], Awaitable[dict[str, Any]]]] = {
    "judge_memory": judge,
    "pin_memory": pin,
}
