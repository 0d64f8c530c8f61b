"""Sessions of Gemini CLI: a journal of JSON lines for each, in which later lines change earlier messages.

Older sessions are one JSON document each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    agent_folder,
    files_below,
    json_document,
    json_lines,
    not_counted,
    session_in,
)
from kiro_learn.adapters.histories.turns import Teller, moment, object_in, objects_in, text_in, turns
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import words_of

REWOUND = "messages that were taken back or written anew"
UNFINISHED = "uses of tools that did not end"
UNKNOWN = "messages of an unknown type"

_ROOT = ".project_root"
_SILENT = frozenset({"info", "warning", "error"})
_FAILED = frozenset({"error", "cancelled"})
_NO_PERSON = ("<session_context>", "This is the Gemini CLI. We are setting up the context", "<hook_context>")
_DEPTH = 2


class GeminiHistory:
    """``HistoryReader`` for Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    agent = "gemini"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        moved = place.environment.get("GEMINI_CLI_HOME", "")
        home = Path(moved) if moved.startswith("/") else place.user
        folders = _folders_by_name(home / ".gemini" / "projects.json")
        temporary = agent_folder(attrs.evolve(place, user=home), ".gemini") / "tmp"
        for path in files_below(temporary, ".json", ".jsonl", depth=_DEPTH + 2):
            project = next((each.parent for each in path.parents if each.name == "chats"), None)
            if project is not None and project.parent == temporary:
                yield from session_in(path, path.stem, folder=_folder_of(project, folders))

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_Journal(session, skipped).told(), skipped)


def _folders_by_name(path: Path) -> dict[str, str]:
    """The folder of each project, by the names that Gemini's folder for it has today or had before."""
    try:
        known = object_in(json_document(path, not_counted), "projects")
    except OSError:
        return {}
    named = {slug: folder for folder, slug in known.items() if isinstance(slug, str)}
    return {hashlib.sha256(folder.encode()).hexdigest(): folder for folder in known} | named


def _folder_of(project: Path, folders: Mapping[str, str]) -> str:
    try:
        said = (project / _ROOT).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        said = ""
    return said or folders.get(project.name, "")


class _Journal:
    """Reads one session twice: first to find the last line of each message, then to read those lines."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._path = session.path
        self._skipped = skipped
        self._is_sub_agent = session.path.parent.name != "chats"
        self._tell = Teller(skipped, session.session_id, session.folder)

    def told(self) -> Iterator[PastEvent]:
        if self._path.suffix == ".json":
            document = json_document(self._path, self._skipped)
            self._begin(document)
            for message in objects_in(document.get("messages")):
                yield from self._message(message)
            return
        last = self._last_lines()
        for line in json_lines(self._path, self._skipped):
            self._begin(line.fields)
            for message in _messages_in(line.fields):
                if last.get(text_in(message, "id")) == line.number:
                    yield from self._message(message)
                else:
                    self._skipped(REWOUND)

    def _last_lines(self) -> dict[str, int]:
        """The number of the last line of each message, by the message's id, in order; without removed messages."""
        last: dict[str, int] = {}
        for line in json_lines(self._path, not_counted):
            if "messages" in object_in(line.fields, "$set"):
                last.clear()
            if isinstance(rewound := line.fields.get("$rewindTo"), str):
                ids = list(last)
                for gone in ids[ids.index(rewound) if rewound in last else 0 :]:
                    del last[gone]
            for message in _messages_in(line.fields):
                last[text_in(message, "id")] = line.number
        return last

    def _begin(self, fields: dict[str, Any]) -> None:
        """Take the session's id. Not for a sub-agent, which may repeat its parent's: its file's name is its id."""
        if text_in(fields, "sessionId") and not self._is_sub_agent:
            self._tell.session_id = text_in(fields, "sessionId")[:MAX_SESSION_ID]

    def _message(self, message: dict[str, Any]) -> Iterator[PastEvent]:
        at, key = moment(message.get("timestamp")), text_in(message, "id")
        match message.get("type"):
            case "user" if not self._is_sub_agent:
                said = words_of(message.get("displayContent")) or words_of(message.get("content"))
                if not said.lstrip().startswith(_NO_PERSON):
                    yield from self._tell.prompt(key, said, at)
            case "gemini":
                yield from self._tell.answer(key, words_of(message.get("content")), at)
                for call in objects_in(message.get("toolCalls")):
                    yield from self._call(call, key)
            case str(silent) if silent in _SILENT or silent == "user":
                pass
            case _:
                self._skipped(UNKNOWN)

    def _call(self, call: dict[str, Any], key: str) -> Iterator[PastEvent]:
        """The use of a tool, with its result in the form that the hook reports."""
        status = text_in(call, "status")
        if status != "success" and status not in _FAILED:
            self._skipped(UNFINISHED)
            return
        told = [object_in(object_in(part, "functionResponse"), "response") for part in objects_in(call.get("result"))]
        shown = "\n".join(text_in(each, "output") or text_in(each, "error") for each in told)
        response: dict[str, Any] = {"llmContent": shown or words_of(call.get("resultDisplay"))}
        if status in _FAILED:
            response["error"] = next((each["error"] for each in told if text_in(each, "error")), status)
        at = moment(call.get("timestamp"))
        yield self._tell.call(text_in(call, "id") or key, text_in(call, "name"), call.get("args"), response, at)


def _messages_in(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a line adds or replaces: one, or all of them."""
    changed = object_in(fields, "$set").get("messages")
    if isinstance(changed, list):
        return objects_in(changed)
    return [fields] if text_in(fields, "id") and "type" in fields else []
