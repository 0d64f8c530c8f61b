"""The turns of a session: what a person asked, which tools ran, and what the agent answered at last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

import attrs

from kiro_learn.model.event import Body, EventKind
from kiro_learn.model.ids import is_unique
from kiro_learn.ports.histories import PastEvent, Skipped
from kiro_learn.wire.hook_payload import text_body, tool_body

NO_RESULT = "uses of tools without a result"
NO_CALL = "results whose call is missing"
SUMMARIES = "summaries of turns that are there themselves"


@attrs.define
class Teller:
    """Makes the events of one session. Empty texts make none."""

    skipped: Skipped
    session_id: str
    folder: str = ""
    branch: str | None = None
    _known: Counter[str] = attrs.field(factory=Counter, init=False)
    """How often each id of a call was seen, if it may come again: some models number anew in every message."""
    open_calls: dict[str, tuple[str, Any]] = attrs.field(factory=dict, init=False)
    """The calls without a result so far: the name and the input of each, by its id."""

    def prompt(self, key: str, text: str, at: datetime | None) -> Iterator[PastEvent]:
        if said := without_injected(text):
            yield self._event(EventKind.PROMPT, key, text_body(said), at)

    def answer(self, key: str, text: str, at: datetime | None) -> Iterator[PastEvent]:
        if text.strip():
            yield self._event(EventKind.SESSION_SUMMARY, key, text_body(text.strip()), at)

    def call(self, key: str, name: str, given: Any, response: Any, at: datetime | None) -> PastEvent:
        if not is_unique(key):
            self._known[key] += 1
            key = key if self._known[key] == 1 else f"{key} {self._known[key]}"
        return self._event(EventKind.TOOL_USE, key, tool_body(name, given, response), at)

    def began(self, call_id: str, name: str, given: Any) -> None:
        """Note the call of a tool; its result comes later."""
        self.open_calls[call_id] = (name, given)

    def ended(self, call_id: str, response: Any, at: datetime | None) -> Iterator[PastEvent]:
        """The event of a call that ``began`` noted, with its result."""
        call = self.open_calls.pop(call_id, None)
        if call is None:
            self.skipped(NO_CALL)
        else:
            yield self.call(call_id, *call, response, at)

    def end(self) -> None:
        """Count the open calls as calls without a result."""
        for _ in self.open_calls:
            self.skipped(NO_RESULT)
        self.open_calls.clear()

    def _event(self, kind: EventKind, key: str, body: Body, at: datetime | None) -> PastEvent:
        return PastEvent(
            session_id=self.session_id,
            kind=kind,
            key=key,
            body=body,
            happened_at=at,
            folder=self.folder,
            branch=self.branch,
        )


def turns(events: Iterable[PastEvent], skipped: Skipped) -> Iterator[PastEvent]:
    """``events`` of one session. The agent's last text before each prompt is kept as its answer, the others are not.

    A session that a memory's own program held gives no events.
    """
    answer: PastEvent | None = None
    for event in events:
        if is_of_a_memory(event.folder):
            skipped(OF_A_MEMORY)
            return
        if event.kind is EventKind.SESSION_SUMMARY:
            answer = event
            continue
        if event.kind is EventKind.PROMPT:
            if answer is not None:
                yield answer
            answer = None
        yield event
    if answer is not None:
        yield attrs.evolve(answer, may_go_on=True)


# Reads texts and times of a history, without what programs put into them. These functions take any value.

OF_A_MEMORY = "sessions of memories themselves"

_MEMORY_FOLDERS = frozenset({".kiro-learn", ".claude-mem", ".kiro-memory"})
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
_FIRST = datetime.fromtimestamp(0, UTC)
_MOST_SECONDS = 253_402_300_799
"""The end of the year 9999."""
_LEAST_MILLISECONDS = 100_000_000_000
"""The least number that is read as milliseconds since 1970: it is in 1973. As seconds it would be in 5138."""


def without_injected(text: str) -> str:
    """``text`` without the reminders that agents put into a prompt. Our own blocks are cut out elsewhere."""
    return (_REMINDER.sub("", text) if "<system-reminder>" in text else text).strip()


def is_of_a_memory(folder: str) -> bool:
    """Whether a session in ``folder`` is one of a memory's own program, such as claude-mem."""
    return not _MEMORY_FOLDERS.isdisjoint(PurePath(folder).parts)


def moment(value: Any) -> datetime | None:
    """The time in ``value``: RFC 3339, or seconds or milliseconds since 1970; None if it is no time.

    A time before 1970 is none: some programs write the year 1 if they know no time.
    """
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            said = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return said if said > _FIRST else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 < value < _MOST_SECONDS * 1000:  # before it is divided: a whole number may be larger than any fraction
        return None
    seconds = value / 1000 if value >= _LEAST_MILLISECONDS else value
    return datetime.fromtimestamp(seconds, UTC)


def key_of_call(call_id: str, record: str) -> str:
    """The key of a tool's use. ``record`` is part of it if the model numbers its calls anew in every message."""
    return call_id if is_unique(call_id) else f"{call_id} {record}"


def text_in(fields: dict[str, Any], name: str) -> str:
    """The text in the field ``name``; empty if it is no text."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def object_in(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """The object in the field ``name``; empty if it is no object."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none if ``value`` is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
