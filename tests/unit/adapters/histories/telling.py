"""The events that a reader reads from a home, as a table with a row for each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kiro_learn.model.ids import derived_event_id
from kiro_learn.ports.histories import HistoryPlace, HistoryReader, PastEvent, PastSession
from tests.unit.adapters.histories.transcripts import shortly

Row = tuple[str, str, str]


class Count:
    """A ``Skipped`` that keeps its counts."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()

    def __call__(self, reason: str) -> None:
        self.reasons[reason] += 1


def place_of(home: Path, *folders: Path, **environment: str) -> HistoryPlace:
    return HistoryPlace(user=home, environment=environment, folders=folders)


def listed(reader: HistoryReader, place: HistoryPlace) -> list[PastSession]:
    return sorted(reader.sessions(place), key=lambda session: session.session_id)


def told(reader: HistoryReader, place: HistoryPlace) -> tuple[list[PastEvent], dict[str, int]]:
    """The events of all sessions, one session after the other, and the counts of skipped things."""
    skipped = Count()
    return [event for session in listed(reader, place) for event in reader.events(session, skipped)], skipped.reasons


def row(event: PastEvent) -> Row:
    """The event's kind and content, its time as day, hour, minute and second, and the folder."""
    at = "" if event.happened_at is None else event.happened_at.strftime("%d %H:%M:%S")
    return f"{event.kind}: {shortly(event)}", at, event.folder


def table(reader: HistoryReader, place: HistoryPlace) -> tuple[dict[str, list[Row]], dict[str, int]]:
    """The rows of each session, in order, and the counts of skipped things."""
    events, skipped = told(reader, place)
    rows: dict[str, list[Row]] = {}
    for event in events:
        rows.setdefault(event.session_id, []).append(row(event))
    return rows, skipped


def ids(reader: HistoryReader, place: HistoryPlace) -> list[str]:
    """The ids of the events as they are stored."""
    events, _ = told(reader, place)
    return [derived_event_id(event.session_id, event.kind, event.key) for event in events]
