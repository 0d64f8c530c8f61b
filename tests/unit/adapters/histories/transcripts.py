"""Writes transcripts in the agents' forms with invented text, and shows a reader's events in short."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kiro_learn.learning.extraction.framing import readable
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.model.event import EventKind, JsonBody, TextBody
from kiro_learn.ports.histories import HistoryPlace, HistoryReader, PastEvent

Row = dict[str, Any] | str | bytes


def written(path: Path, rows: Iterable[Row]) -> Path:
    """Write each row as a line of JSON; texts and bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(as_line, rows)))
    return path


def as_line(row: Row) -> bytes:
    if isinstance(row, dict):
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"
    return row.encode() if isinstance(row, str) else row


def read(reader: HistoryReader, user: Path, **environment: str) -> tuple[list[PastEvent], Counter[str]]:
    """The events of all sessions below ``user``, and the counts of skipped things."""
    skipped: Counter[str] = Counter()

    def skip(reason: str) -> None:
        skipped[reason] += 1

    place = HistoryPlace(user=user, environment=environment)
    sessions = sorted(reader.sessions(place), key=lambda session: session.path)
    return [event for session in sessions for event in reader.events(session, skip)], skipped


def told(events: Iterable[PastEvent]) -> list[str]:
    """Each event in a line, as a conformance table."""
    return [f"{event.kind}: {shortly(event)}" for event in events]


def shortly(event: PastEvent) -> str:
    if isinstance(event.body, TextBody):
        return event.body.content
    assert event.kind is EventKind.TOOL_USE
    assert isinstance(event.body, JsonBody)
    use = event.body.data
    response = use["tool_response"]
    outcome = "failed" if has_failed(use["tool_name"], response, readable(response)) else "well"
    return f"{use['tool_name']} {json.dumps(use['tool_input'], ensure_ascii=False)} {outcome}"
