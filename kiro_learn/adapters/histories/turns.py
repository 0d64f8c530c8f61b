"""The turns of a session: what a person asked, which tools ran, and what the agent answered in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.adapters.histories.words import OF_A_MEMORY, is_of_a_memory, without_injected
from kiro_learn.model.event import Body, EventKind
from kiro_learn.model.ids import is_unique
from kiro_learn.ports.histories import PastEvent, Skipped
from kiro_learn.wire.hooks.payload import text_body, tool_body

NO_RESULT = "uses of tools without a result"
NO_CALL = "results whose call is missing"
SUMMARIES = "summaries of what stands there itself"


@attrs.define
class Teller:
    """Words the events of one session; none of what is empty."""

    session_id: str
    folder: str = ""
    branch: str | None = None
    _known: Counter[str] = attrs.field(factory=Counter, init=False)
    """Ids of calls that may come again: some models count anew in every message."""

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
    """``events`` of one session, of an agent's texts the last before each prompt alone, which is its answer.

    Nothing of a session that a memory's own program held.
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
