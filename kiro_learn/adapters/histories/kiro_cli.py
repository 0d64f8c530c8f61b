"""Sessions of Kiro CLI: a JSON document about each, and a file of JSON lines with its messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    agent_folder,
    application_folders,
    digest_of,
    files_below,
    json_document,
    json_lines,
    session_in,
)
from kiro_learn.adapters.histories.foreign_database import ForeignDatabase, foreign_database, number
from kiro_learn.adapters.histories.turns import (
    Teller,
    moment,
    object_in,
    objects_in,
    text_in,
    turns,
)
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import read_whole_object, words_of

UNKNOWN = "messages of an unknown kind"

_SILENT = frozenset({"SystemPrompt"})


class KiroCliHistory:
    """``HistoryReader`` for Kiro CLI's files."""

    name = "kiro-cli"
    title = "Kiro CLI"
    agent = "kiro-cli"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in files_below(agent_folder(place, ".kiro", "KIRO_HOME") / "sessions" / "cli", ".jsonl"):
            yield from session_in(path, path.stem)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_Messages(session, skipped).told(), skipped)


class _Messages:
    """Reads the messages of one session."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        about = _about(session.path.with_suffix(".json"), skipped)
        self._path = session.path
        self._skipped = skipped
        named = text_in(about, "session_id")[:MAX_SESSION_ID]
        self._tell = Teller(skipped, named or session.session_id, text_in(about, "cwd"))
        self._now = moment(about.get("created_at"))

    def told(self) -> Iterator[PastEvent]:
        for line in json_lines(self._path, self._skipped):
            data = object_in(line.fields, "data")
            self._now = moment(object_in(data, "meta").get("timestamp")) or self._now
            key = text_in(data, "message_id") or f"line {line.number}"
            yield from self._message(line.fields.get("kind"), data, key)
        self._tell.end()

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
                        self._tell.began(text_in(call, "toolUseId"), text_in(call, "name"), call.get("input"))
            case "ToolResults":
                for block in blocks:
                    if block.get("kind") == "toolResult":
                        yield from self._result(object_in(block, "data"))
            case str(silent) if silent in _SILENT:
                pass
            case _:
                self._skipped(UNKNOWN)

    def _result(self, result: dict[str, Any]) -> Iterator[PastEvent]:
        """A result in the form that the hook reports. ``success`` only says that the tool ran, not that it did well."""
        shown = [block.get("data") for block in objects_in(result.get("content"))]
        response = {"success": result.get("status") == "success", "result": shown}
        yield from self._tell.ended(text_in(result, "toolUseId"), response, self._now)


def _about(path: Path, skipped: Skipped) -> dict[str, Any]:
    """The document about the session; empty if the file is gone."""
    try:
        return json_document(path, skipped)
    except FileNotFoundError:
        return {}


# The database of Kiro CLI and of Amazon Q, from which Kiro CLI came.
#
# A row is a whole conversation, and a long one loses its beginning as it grows. So the key of a prompt is made of its
# time and text, not of its place.

TABLES = frozenset({"conversations", "conversations_v2"})
NO_CONVERSATION = "conversations that are no JSON object"

_ID = "iif(json_valid(value), json_extract(value, '$.conversation_id'), NULL)"
_LISTED = {
    "conversations_v2": ("conversation_id", "key", "updated_at"),
    "conversations": (_ID, "key", "NULL"),
}
"""The columns with the id, folder and time of a conversation, by table; the newer table comes first."""


class KiroDatabaseHistory:
    """``HistoryReader`` for conversations in a database."""

    def __init__(self, name: str, title: str, agent: str, folder: str) -> None:
        """``folder``: the program's own, below the folder of all programs' data."""
        self.name = name
        self.title = title
        self.agent = agent
        self.folder = folder

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for folder in (agent_folder(place, ".local/share", "XDG_DATA_HOME"), *application_folders(place)):
            for file in session_in(folder / self.folder / "data.sqlite3", "file"):
                yield from _sessions(file)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        with foreign_database(session.path, TABLES, skipped) as database:
            known = (
                database.one(
                    ("value",), f"{rest} WHERE {columns[0]} = ? ORDER BY {columns[2]} DESC", session.session_id
                )
                for columns, rest in _listed(database)
            )
            value = next((row[0] for row in known if row is not None), None)
        conversation = read_whole_object(value or "")
        if conversation is None:
            skipped(NO_CONVERSATION)
        else:
            yield from turns(_Turns(session, skipped).told_by(conversation), skipped)


def _sessions(file: PastSession) -> Iterator[PastSession]:
    found: dict[str, PastSession] = {}
    with foreign_database(file.path, TABLES) as database:
        for columns, rest in _listed(database):
            rows = database.all((*columns, "octet_length(value)"), f"{rest} ORDER BY {columns[2]} DESC")
            for conversation_id, folder, updated, size in rows:
                if conversation_id and len(conversation_id) <= MAX_SESSION_ID:
                    session = attrs.evolve(
                        file,
                        session_id=conversation_id,
                        changed_at=moment(number(updated)) or file.changed_at,
                        size_bytes=number(size),
                        state=f"{updated} {size}",
                        folder=folder if folder and folder.startswith("/") else "",
                    )
                    found.setdefault(conversation_id, session)
    yield from found.values()


def _listed(database: ForeignDatabase) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns and the FROM clause for each table that the database has."""
    for table, columns in _LISTED.items():
        if database.columns(table):
            yield columns, f"FROM {table}"


class _Turns:
    """Reads the turns of one conversation."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._tell = Teller(skipped, session.session_id, session.folder)
        self._now: datetime | None = None
        self._said: Counter[str] = Counter()

    def told_by(self, conversation: dict[str, Any]) -> Iterator[PastEvent]:
        summary = conversation.get("latest_summary")
        if isinstance(summary, list) and summary and isinstance(summary[0], str):
            yield from self._tell.answer(f"summary {digest_of(summary[0])}", summary[0], None)
        history = conversation.get("history")
        for turn in history if isinstance(history, list) else ():
            user, assistant, ended = _parts(turn)
            yield from self._user(user)
            self._now = moment(ended) or self._now
            yield from self._assistant(assistant)
        self._tell.end()

    def _user(self, user: dict[str, Any]) -> Iterator[PastEvent]:
        self._now = moment(user.get("timestamp")) or self._now
        content = object_in(user, "content")
        for said in content.values():
            if isinstance(said, dict):
                for result in objects_in(said.get("tool_use_results")):
                    yield from self._result(result)
                text = text_in(said, "prompt")
                yield from self._tell.prompt(self._key(text, user.get("timestamp")), text, self._now)

    def _key(self, text: str, timestamp: Any) -> str:
        """The key of a prompt, which has no id."""
        key = digest_of(f"{timestamp} {text}")
        self._said[key] += 1
        return f"{key} {self._said[key]}"

    def _result(self, result: dict[str, Any]) -> Iterator[PastEvent]:
        call_id = text_in(result, "tool_use_id")
        if call_id in self._tell.open_calls:
            response = {name: result.get(name) for name in ("status", "content")}
            yield from self._tell.ended(call_id, response, self._now)

    def _assistant(self, assistant: dict[str, Any]) -> Iterator[PastEvent]:
        for said in assistant.values():
            if isinstance(said, dict):
                for call in objects_in(said.get("tool_uses")):
                    self._tell.began(text_in(call, "id"), text_in(call, "name"), call.get("args"))
                text = text_in(said, "content")
                yield from self._tell.answer(text_in(said, "message_id") or digest_of(text), text, self._now)


def _parts(turn: Any) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """A turn's user part, assistant part and end time. In the oldest databases a turn is a pair without a time."""
    if isinstance(turn, list):
        user, assistant = [each if isinstance(each, dict) else {} for each in (*turn, None, None)[:2]]
        return user, assistant, None
    if not isinstance(turn, dict):
        return {}, {}, None
    metadata = object_in(turn, "request_metadata")
    return object_in(turn, "user"), object_in(turn, "assistant"), metadata.get("stream_end_timestamp_ms")


KIRO_DATABASE = KiroDatabaseHistory("kiro-cli-database", "Kiro CLI, older and headless", "kiro-cli", "kiro-cli")
AMAZON_Q = KiroDatabaseHistory("amazon-q", "Amazon Q Developer CLI", "amazon-q", "amazon-q")
