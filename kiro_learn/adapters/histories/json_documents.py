"""Files of one JSON object each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kiro_learn.ports.histories import Skipped
from kiro_learn.wire.hooks.payload import read_whole_object

MOST_BYTES = 67_108_864

NO_JSON = "files that are no JSON object"
TOO_LONG = "files too long to read"


def json_document(path: Path, skipped: Skipped) -> dict[str, Any]:
    """The object in ``path``; an empty one if there is none. Raises OSError."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        skipped(TOO_LONG)
        return {}
    fields = read_whole_object(text.decode("utf-8-sig", "replace"))
    if fields is None:
        skipped(NO_JSON)
    return fields or {}
