"""Sessions of Kiro CLI: a document about each, and its messages as JSON lines beside it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from kiro_learn.adapters.histories.files import MAX_SESSION_ID, agent_folder, files_below, session_in
from kiro_learn.adapters.histories.json_documents import json_document
from kiro_learn.adapters.histories.json_lines import json_lines
from kiro_learn.adapters.histories.turns import NO_CALL, NO_RESULT, Teller, turns
from kiro_learn.adapters.histories.words import moment, object_in, objects_in, text_in
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hooks.payload import words_of

UNKNOWN = "messages of an unknown kind"

_SILENT = frozenset({"SystemPrompt"})


class KiroCliHistory:
    """``HistoryReader`` of Kiro CLI's files."""

    name = "kiro-cli"
    title = "Kiro CLI"
    agent = "kiro-cli"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in files_below(agent_folder(place, ".kiro", "KIRO_HOME") / "sessions" / "cli", ".jsonl"):
            session = session_in(path, path.stem)
            if session is not None:
                yield session

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_Messages(session, skipped).told(), skipped)


class _Messages:
    """Reads the messages of one session."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        about = _about(session.path.with_suffix(".json"), skipped)
        self._path = session.path
        self._skipped = skipped
        named = text_in(about, "session_id")[:MAX_SESSION_ID]
        self._tell = Teller(named or session.session_id, text_in(about, "cwd"))
        self._now = moment(about.get("created_at"))
        self._calls: dict[str, dict[str, Any]] = {}

    def told(self) -> Iterator[PastEvent]:
        for line in json_lines(self._path, self._skipped):
            data = object_in(line.fields, "data")
            self._now = moment(object_in(data, "meta").get("timestamp")) or self._now
            key = text_in(data, "message_id") or f"line {line.number}"
            yield from self._message(line.fields.get("kind"), data, key)
        for _ in self._calls:
            self._skipped(NO_RESULT)

    def _message(self, kind: Any, data: dict[str, Any], key: str) -> Iterator[PastEvent]:
        blocks = objects_in(data.get("content"))
        match kind:
            case "Prompt":
                yield from self._tell.prompt(key, words_of(blocks), self._now)
            case "AssistantMessage":
                yield from self._tell.answer(key, words_of(blocks), self._now)
                for block in blocks:
                    if block.get("kind") == "toolUse":
                        call = object_in(block, "data")
                        self._calls[text_in(call, "toolUseId")] = call
            case "ToolResults":
                for block in blocks:
                    if block.get("kind") == "toolResult":
                        yield from self._result(object_in(block, "data"), self._now)
            case str(silent) if silent in _SILENT:
                pass
            case _:
                self._skipped(UNKNOWN)

    def _result(self, result: dict[str, Any], at: datetime | None) -> Iterator[PastEvent]:
        """As the hook has it: ``success`` only says that the tool ran, and what came of it stands in the result."""
        call_id = text_in(result, "toolUseId")
        call = self._calls.pop(call_id, None)
        if call is None:
            self._skipped(NO_CALL)
            return
        shown = [block.get("data") for block in objects_in(result.get("content"))]
        response = {"success": result.get("status") == "success", "result": shown}
        yield self._tell.call(call_id, text_in(call, "name"), call.get("input"), response, at)


def _about(path: Path, skipped: Skipped) -> dict[str, Any]:
    """What is said of the session; nothing if that is gone."""
    try:
        return json_document(path, skipped)
    except FileNotFoundError:
        return {}
