"""Calls about all that is kept: it leaves as lines, and lines of an export are taken."""

from __future__ import annotations

from kiro_learn.client import reading
from kiro_learn.client.call import LEARNING_PATIENCE_SECONDS, LINES_TYPE, Call, Json, Response, target_of

EXPORT_PATIENCE_SECONDS = 60.0
"""For the next piece of an export."""


def export(kind: str | None = None) -> Call[None]:
    """Everything, or one kind of line: to be received piece by piece."""
    target = target_of("/v1/export", kind=kind)
    return Call("GET", target, _nothing, headers={"Accept": LINES_TYPE}, patience_seconds=EXPORT_PATIENCE_SECONDS)


def take(lines: bytes) -> Call[Json]:
    """Keep what lines of an export hold, each piece once by its id: ``{counts, errors}``."""
    patience = LEARNING_PATIENCE_SECONDS
    return Call("POST", "/v1/export/import", reading.json_object, lines, LINES_TYPE, patience_seconds=patience)


def _nothing(_response: Response) -> None:
    """It came piece by piece."""
