"""Sessions of Kiro IDE, in the forms of three generations. A machine may have several of them.

Since version 1, a session is a journal of JSON lines. Before, it was a file of messages and a file of actions for each
execution, in a folder that a hash of the project's path names. In the oldest form, a file is a whole chat.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from kiro_learn.adapters.histories.files import (
    agent_folder,
    application_folders,
    files_below,
    json_document,
    json_lines,
    session_in,
)
from kiro_learn.adapters.histories.turns import (
    NO_CALL,
    SUMMARIES,
    Teller,
    moment,
    object_in,
    objects_in,
    text_in,
    turns,
)
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import words_of

JOURNAL, ABOUT = "messages.jsonl", "session.json"
NO_EXECUTION = "answers whose execution is missing"

_STORAGE = Path("User/globalStorage/kiro.kiroagent")
_SESSIONS = "workspace-sessions"
_INDEX = "sessions.json"
_DEPTH = 2
_OF_PROGRAM = (
    *("# System Prompt", "# Identity", "<identity>", "## Included Rules", "You are operating in a workspace"),
    *("<key_kiro_features>", "<EnvironmentContext>"),
)
"""The beginnings of texts that the program puts in the place of a person's."""
_MARKS = ("<kiro-ide-message>", "</kiro-ide-message>")
_PLACEHOLDERS = frozenset({"On it.", "I will follow these instructions."})
_EXECUTION = re.compile(rb'"executionId"\s*:\s*"([^"\\]{1,200})"')
_INDEXED = b'"executions"'
"""Text that only the list of a folder's executions has, not the file of an execution."""
_HEAD_BYTES = 4_096
_NO_CALLS = frozenset({"intentClassification", "model", "reasoning", "say"})


class KiroIdeHistory:
    """``HistoryReader`` for Kiro IDE, on this machine and as the server of a remote window."""

    name = "kiro-ide"
    title = "Kiro IDE"
    agent = "kiro-ide"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in files_below(agent_folder(place, ".kiro", "KIRO_HOME") / "sessions", JOURNAL, depth=3):
            yield from session_in(path, path.parent.name)
        remote = place.user / ".kiro-server" / "data"
        for folder in (*(each / "Kiro" for each in application_folders(place)), remote):
            storage = folder / _STORAGE
            for path in files_below(storage / _SESSIONS, ".json", depth=_DEPTH):
                if path.name != _INDEX:
                    yield from session_in(path, path.stem)
            for path in files_below(storage, ".chat", depth=_DEPTH):
                yield from session_in(path, path.stem)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        if session.path.name == JOURNAL:
            told = _Journal(session, skipped).told()
        elif session.path.suffix == ".chat":
            told = _told_by_chat(session, skipped)
        else:
            told = _told_by_session(session, skipped)
        yield from turns(told, skipped)


class _Journal:
    """Reads a journal, line by line."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._path = session.path
        self._skipped = skipped
        self._tell = Teller(skipped, session.session_id)

    def told(self) -> Iterator[PastEvent]:
        about = self._path.with_name(ABOUT)
        if about.is_file():
            paths = json_document(about, self._skipped).get("workspacePaths")
            first = paths[0] if isinstance(paths, list) and paths else ""
            self._tell.folder = first if isinstance(first, str) else ""
        for line in json_lines(self._path, self._skipped):
            key = text_in(line.fields, "id") or f"line {line.number}"
            yield from self._line(object_in(line.fields, "payload"), key, moment(line.fields.get("timestamp")))
        self._tell.end()

    def _line(self, payload: dict[str, Any], key: str, at: datetime | None) -> Iterator[PastEvent]:
        said = words_of(payload.get("content"))
        match text_in(payload, "type"), text_in(payload, "operationType"):
            case "user", _:
                yield from self._tell.prompt(key, _typed(said), at)
            case "assistant", "Say" | "":
                yield from self._tell.answer(key, said, at)
            case "assistant", "Summary":
                self._skipped(SUMMARIES)
            case "tool_call", _:
                given = next((payload[name] for name in ("args", "input", "arguments") if name in payload), None)
                self._tell.began(text_in(payload, "toolCallId"), text_in(payload, "toolName"), given)
            case "tool_result", _:
                response = {name: payload[name] for name in ("success", "content", "error") if name in payload}
                yield from self._tell.ended(text_in(payload, "toolCallId"), response, at)


def _typed(text: str) -> str:
    """The part of ``text`` that a person typed; empty if there is none."""
    for mark in _MARKS:
        text = text.replace(mark, "")
    return "" if text.lstrip().startswith(_OF_PROGRAM) else text.strip()


def _told_by_session(session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
    about = json_document(session.path, skipped)
    folder = text_in(about, "workspaceDirectory")
    tell = Teller(skipped, text_in(about, "sessionId")[:128] or session.session_id, folder)
    executions = _executions(session.path, folder)
    at: datetime | None = None
    waiting: list[tuple[str, str]] = []
    """Prompts that get the start time of the execution that follows them."""
    for place, entry in enumerate(objects_in(about.get("history"))):
        message = object_in(entry, "message")
        key = text_in(message, "id") or f"message {place}"
        said = words_of(message.get("content"))
        if message.get("role") == "user":
            waiting.append((key, _typed(said)))
        elif message.get("role") == "assistant":
            path = executions.get(text_in(entry, "executionId"))
            if path is None:
                skipped(NO_EXECUTION)
            done = {} if path is None else json_document(path, skipped)
            at = moment(done.get("startTime")) or at or session.changed_at
            for each in waiting:
                yield from tell.prompt(*each, at)
            waiting.clear()
            if said.strip() not in _PLACEHOLDERS:
                yield from tell.answer(key, said, at)
            yield from _told_by_execution(tell, done, at)
            at = moment(done.get("endTime")) or at
    for each in waiting:
        yield from tell.prompt(*each, at or session.changed_at)


def _executions(session: Path, folder: str) -> dict[str, Path]:
    """The project's files of actions, by the id of the execution, which is near the beginning of each file."""
    found: dict[str, Path] = {}
    for path in files_below(session.parents[2] / _hashed(folder), "", depth=_DEPTH):
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        execution = _EXECUTION.search(head)
        if execution and _INDEXED not in head and path.suffix != ".chat":
            found[execution.group(1).decode("utf-8", "replace")] = path
    return found


def _hashed(folder: str) -> str:
    """The name of Kiro's folder for the actions in the project ``folder``."""
    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()[:32]


def _folder_of(chat: Path) -> str:
    """The project of a chat. The chat has only a hash of it; a folder of sessions may have the whole name."""
    sessions = chat.parents[1] / _SESSIONS
    names = (path.name for path in sessions.iterdir()) if sessions.is_dir() else ()
    return next((folder for folder in map(_decoded, names) if _hashed(folder) == chat.parent.name), "")


def _decoded(name: str) -> str:
    """The path that ``name`` spells in base64, whose padding is underscores."""
    spelled = name.rstrip("_=")
    try:
        return base64.urlsafe_b64decode(spelled + "=" * (-len(spelled) % 4)).decode()
    except ValueError:
        return ""


def _told_by_execution(tell: Teller, done: dict[str, Any], at: datetime) -> Iterator[PastEvent]:
    actions = objects_in(done.get("actions"))
    if not actions:
        yield from _told_by_entries(tell, done, at)
    for place, action in enumerate(actions):
        kind = text_in(action, "actionType")
        key = text_in(action, "actionId") or f"{text_in(done, 'executionId')} {place}"
        when = moment(action.get("emittedAt")) or at
        output = action.get("output")
        if kind == "say":
            yield from tell.answer(key, text_in(object_in(action, "output"), "message"), when)
        elif kind not in _NO_CALLS:
            given = object_in(action, "input")
            name = text_in(given, "toolName") if kind == "mcp" else kind
            arguments = given.get("toolArgs") if kind == "mcp" else given
            yield tell.call(key, name or kind, arguments, {"status": action.get("actionState"), "output": output}, when)


def _told_by_entries(tell: Teller, done: dict[str, Any], at: datetime) -> Iterator[PastEvent]:
    """Events of an execution without actions, from the model's context after the last prompt."""
    for place, entry in enumerate(_entries_since_prompt(objects_in(object_in(done, "context").get("messages")))):
        key = text_in(entry, "id") or text_in(entry, "toolCallId") or f"{text_in(done, 'executionId')} {place}"
        match entry.get("type"):
            case "text":
                yield from tell.answer(key, text_in(entry, "text"), at)
            case "toolUse":
                tell.began(key, text_in(entry, "name"), entry.get("args"))
            case "toolUseResponse":
                response = {name: entry[name] for name in ("success", "message") if name in entry}
                call_id = key if key in tell.open_calls else next(iter(tell.open_calls), "")
                yield from tell.ended(call_id, response, at)
    tell.end()


def _entries_since_prompt(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in messages:
        entries = objects_in(message.get("entries"))
        if message.get("role") == "human" and any(entry.get("type") == "text" for entry in entries):
            found = []
        else:
            found += entries
    return found


def _told_by_chat(session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
    """Events of a chat file. It has results of tools as texts without a call, which are left out."""
    chat = json_document(session.path, skipped)
    about = object_in(chat, "metadata")
    tell = Teller(skipped, text_in(about, "workflowId")[:128] or session.session_id, _folder_of(session.path))
    at = moment(about.get("startTime")) or session.changed_at
    prefix = text_in(chat, "executionId") or session.session_id
    for place, message in enumerate(objects_in(chat.get("chat"))):
        said = text_in(message, "content")
        match message.get("role"):
            case "human":
                yield from tell.prompt(f"{prefix} {place}", _typed(said), at)
            case "bot" if said.strip() not in _PLACEHOLDERS:
                yield from tell.answer(f"{prefix} {place}", said, at)
            case "tool":
                skipped(NO_CALL)
