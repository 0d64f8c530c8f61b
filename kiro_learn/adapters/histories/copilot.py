"""Sessions of Copilot CLI: a journal of JSON lines for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kiro_learn.adapters.histories.files import agent_folder, files_below, json_lines, session_in
from kiro_learn.adapters.histories.turns import SUMMARIES, Teller, moment, object_in, text_in, turns
from kiro_learn.model.namespace import branch_named
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped

JOURNAL = "events.jsonl"
_DEPTH = 2
_OF_RESULT = ("success", "result", "error")


class CopilotHistory:
    """``HistoryReader`` for Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"
    agent = "copilot"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in files_below(agent_folder(place, ".copilot") / "session-state", ".jsonl", depth=_DEPTH):
            yield from session_in(path, path.parent.name if path.name == JOURNAL else path.stem)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_Journal(session, skipped).told(), skipped)


class _Journal:
    """Reads one journal, line by line."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._session = session
        self._skipped = skipped
        self._tell = Teller(skipped, session.session_id)

    def told(self) -> Iterator[PastEvent]:
        for line in json_lines(self._session.path, self._skipped):
            kind, data = text_in(line.fields, "type"), object_in(line.fields, "data")
            key = text_in(line.fields, "id") or f"line {line.number}"
            yield from self._line(kind, data, key, moment(line.fields.get("timestamp")))
        self._tell.end()

    def _line(self, kind: str, data: dict[str, Any], key: str, at: datetime | None) -> Iterator[PastEvent]:
        about = object_in(data, "context")
        self._tell.folder = text_in(about, "cwd") or self._tell.folder
        self._tell.branch = branch_named(about.get("branch")) or self._tell.branch
        match kind:
            case "session.start":
                self._tell.session_id = text_in(data, "sessionId")[:128] or self._tell.session_id
            case "user.message":
                yield from self._tell.prompt(key, text_in(data, "content"), at)
            case "assistant.message":
                yield from self._tell.answer(key, text_in(data, "content"), at)
            case "tool.execution_start":
                self._tell.began(text_in(data, "toolCallId"), text_in(data, "toolName"), data.get("arguments"))
            case "tool.execution_complete":
                response = {name: data[name] for name in _OF_RESULT if data.get(name) is not None}
                yield from self._tell.ended(text_in(data, "toolCallId"), response, at)
            case "session.compaction_complete":
                self._skipped(SUMMARIES)
