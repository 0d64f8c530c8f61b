"""Short histories to learn from: events as hooks report them, a second apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.learning.extraction.framing import FramedBatch, frame
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.event import Body, Event, EventKind, JsonBody, Source, TextBody
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace

PROJECT_PATH = "/home/dev/shop"
START = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def event_id(number: int) -> EventId:
    return EventId(f"01{number:024d}")


def event(number: int, kind: EventKind, body: Body, *, session: str = "one") -> Event:
    return Event(
        event_id=event_id(number),
        session_id=session,
        actor_id="dev",
        namespace=Namespace(f"/actor/dev/project/{'a' * 64}/"),
        schema_version=1,
        kind=kind,
        body=body,
        valid_time=START + timedelta(seconds=number),
        source=Source(surface="kiro-cli", version="1", client_id="test", project_path=PROJECT_PATH),
    )


def prompt(number: int, text: str, *, session: str = "one") -> Event:
    return event(number, EventKind.PROMPT, TextBody(text), session=session)


def answer(number: int, text: str, *, session: str = "one") -> Event:
    return event(number, EventKind.SESSION_SUMMARY, TextBody(text), session=session)


def note(number: int, text: str) -> Event:
    return event(number, EventKind.NOTE, TextBody(text))


def tool(number: int, name: str, given: Any, response: Any, *, session: str = "one") -> Event:
    data = {"tool_name": name, "tool_input": given, "tool_response": response}
    return event(number, EventKind.TOOL_USE, JsonBody(data), session=session)


def waiting(*events: Event) -> tuple[BufferedEvent, ...]:
    """``events`` as entries of a buffer."""
    return tuple(BufferedEvent(event, position, 100) for position, event in enumerate(events, start=1))


def snapshot(events: Sequence[Event], earlier: Sequence[Event] = ()) -> BufferSnapshot:
    """``events`` as a learning run takes them."""
    return BufferSnapshot(waiting(*events), tuple(earlier))


def framed(events: Sequence[Event], earlier: Sequence[Event] = ()) -> FramedBatch:
    """The prompt that asks a model to learn from ``events``."""
    return frame(waiting(*events), earlier)


def learned(*events: Event, earlier: tuple[Event, ...] = ()) -> list[RecordDraft]:
    """The drafts that the extractive learner makes from ``events``."""
    return drafts_of(snapshot(events, earlier))
