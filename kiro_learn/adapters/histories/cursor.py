"""Chats of Cursor: rows of a database of keys and JSON. Its agent also writes transcripts, which lack tools' results.

The list of chats with their folders is kept apart: in the database of all windows, or in that of one window. A chat
that is in a database is not read from its transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    agent_folder,
    application_folders,
    files_below,
    json_document,
    json_lines,
    not_counted,
    session_in,
)
from kiro_learn.adapters.histories.files import NO_JSON_FILE as NO_JSON
from kiro_learn.adapters.histories.foreign_database import ForeignDatabase, foreign_database, number
from kiro_learn.adapters.histories.turns import NO_RESULT, Teller, moment, object_in, objects_in, text_in, turns
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import read_whole_object, words_of

TABLES = frozenset({"cursorDiskKV", "ItemTable"})
DATABASE = "state.vscdb"
NO_TEXT = "summaries that are on a server"
HIDDEN = "texts that the transcript does not show"

_LISTS = ("composer.composerHeaders", "composer.composerData")
_HEAD, _BUBBLE = "composerData:", "bubbleId:"
_USER, _ASSISTANT = 1, 2
_THINKING, _SUMMARY = 30, 22
_RUNNING = frozenset({"loading", "pending", "running"})
_WINDOW_DEPTH = 2
_TRANSCRIPT_DEPTH = 4
_ENVELOPE = ("<user_query>", "</user_query>")
_REDACTED = "[REDACTED]"


class CursorHistory:
    """``HistoryReader`` for Cursor."""

    name = "cursor"
    title = "Cursor"
    agent = "cursor"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        known: set[str] = set()
        for folder in application_folders(place):
            for session in _in_databases(folder / "Cursor" / "User"):
                if session.session_id not in known:
                    known.add(session.session_id)
                    yield session
        projects = agent_folder(place, ".cursor") / "projects"
        for path in files_below(projects, ".jsonl", depth=_TRANSCRIPT_DEPTH):
            if "agent-transcripts" in path.parts and path.stem not in known:
                yield from session_in(path, path.stem)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        if session.path.suffix == ".jsonl":
            yield from turns(_told_by_transcript(session, skipped), skipped)
            return
        with foreign_database(session.path, TABLES, skipped) as database:
            yield from turns(_Chat(database, session, skipped).told(), skipped)


def _in_databases(user: Path) -> Iterator[PastSession]:
    folders: dict[str, str] = {}
    windows = list(files_below(user / "workspaceStorage", DATABASE, depth=_WINDOW_DEPTH))
    for path in windows:
        folders.update(_listed(path, _folder_of(path.parent / "workspace.json")))
    everywhere = user / "globalStorage" / DATABASE
    folders.update(_listed(everywhere, ""))
    for path in (everywhere, *windows):
        for file in session_in(path, "file"):
            yield from _chats(file, folders)


def _listed(path: Path, folder: str) -> Iterator[tuple[str, str]]:
    """The chats that ``path`` lists, each with its folder, which is ``folder`` if the list names none."""
    if not path.is_file():
        return
    with foreign_database(path, TABLES) as database:
        for key in _LISTS:
            row = database.one(("value",), "FROM ItemTable WHERE key = ?", key)
            listed = read_whole_object(row[0] or "") if row is not None else None
            for chat in objects_in((listed or {}).get("allComposers")):
                uri = object_in(object_in(chat, "workspaceIdentifier"), "uri")
                if found := text_in(uri, "fsPath") or folder:
                    yield text_in(chat, "composerId"), found


def _folder_of(about: Path) -> str:
    """The folder of a window; empty if it is not on this machine."""
    try:
        address = urlsplit(text_in(json_document(about, not_counted), "folder"))
    except (OSError, ValueError):
        return ""
    return unquote(address.path) if address.scheme == "file" else ""


def _chats(file: PastSession, folders: Mapping[str, str]) -> Iterator[PastSession]:
    with foreign_database(file.path, TABLES) as database:
        rest = "FROM cursorDiskKV WHERE key >= ? AND key < ?"
        heads = database.all(("key", "octet_length(value)"), rest, _HEAD, _after(_HEAD))
        for key, size in heads:
            chat = (key or "").removeprefix(_HEAD)
            bubbles = database.one(("count(*)", "sum(octet_length(value))"), rest, *_range_of(chat))
            count, length = bubbles or ("", "")
            if 0 < len(chat) <= MAX_SESSION_ID and number(count):
                yield attrs.evolve(
                    file,
                    session_id=chat,
                    changed_at=_changed_at(database, chat) or file.changed_at,
                    size_bytes=number(size) + number(length),
                    state=f"{size} {count} {length}",
                    folder=folders.get(chat, ""),
                )


def _changed_at(database: ForeignDatabase, chat: str) -> datetime | None:
    times = ("lastUpdatedAt", "createdAt")
    columns = [f"iif(json_valid(value), json_extract(value, '$.{name}'), NULL)" for name in times]
    row = database.one(columns, "FROM cursorDiskKV WHERE key = ?", _HEAD + chat)
    return next((moment(number(time)) for time in row or () if number(time)), None)


def _range_of(chat: str) -> tuple[str, str]:
    prefix = f"{_BUBBLE}{chat}:"
    return prefix, _after(prefix)


def _after(prefix: str) -> str:
    """The end of the range of keys that begin with ``prefix``. ``prefix`` ends with a colon."""
    return prefix[:-1] + ";"


class _Chat:
    """Reads one chat, bubble by bubble."""

    def __init__(self, database: ForeignDatabase, session: PastSession, skipped: Skipped) -> None:
        self._database = database
        self._chat = session.session_id
        self._skipped = skipped
        self._tell = Teller(skipped, session.session_id, session.folder)

    def told(self) -> Iterator[PastEvent]:
        for key in self._keys():
            row = self._database.one(("value",), "FROM cursorDiskKV WHERE key = ?", key)
            fields = read_whole_object(row[0]) if row is not None and row[0] else None
            if fields is None:
                self._skipped(NO_JSON)
            else:
                yield from self._bubble(fields, key.rpartition(":")[2])

    def _keys(self) -> list[str]:
        """The keys of the chat's bubbles, in the order of its list; those that it does not list follow by time."""
        row = self._database.one(("value",), "FROM cursorDiskKV WHERE key = ?", _HEAD + self._chat)
        head = read_whole_object(row[0] or "") if row is not None else None
        listed = objects_in((head or {}).get("fullConversationHeadersOnly"))
        places = {text_in(each, "bubbleId"): place for place, each in enumerate(listed)}
        created = "iif(json_valid(value), json_extract(value, '$.createdAt'), NULL)"
        rows = self._database.all(
            ("key", created), "FROM cursorDiskKV WHERE key >= ? AND key < ?", *_range_of(self._chat)
        )

        def place_of(row: tuple[str | None, ...]) -> tuple[int, str, str]:
            key, at = row[0] or "", row[1] or ""
            return places.get(key.rpartition(":")[2], len(places)), at, key

        return [row[0] for row in sorted(rows, key=place_of) if row[0]]

    def _bubble(self, fields: dict[str, Any], key: str) -> Iterator[PastEvent]:
        at = moment(fields.get("createdAt"))
        tool = object_in(fields, "toolFormerData")
        kind, sort = fields.get("type"), fields.get("capabilityType")
        if sort == _SUMMARY:
            self._skipped(NO_TEXT)
        elif tool:
            yield from self._tool(tool, key, at)
        elif kind == _USER:
            yield from self._tell.prompt(key, text_in(fields, "text"), at)
        elif kind == _ASSISTANT and sort != _THINKING:
            yield from self._tell.answer(key, text_in(fields, "text"), at)

    def _tool(self, tool: dict[str, Any], key: str, at: datetime | None) -> Iterator[PastEvent]:
        """The use of a tool. ``params`` and ``result`` are strings that hold JSON."""
        if text_in(tool, "status") in _RUNNING:
            self._skipped(NO_RESULT)
            return
        given = read_whole_object(text_in(tool, "params")) or tool.get("params") or tool.get("rawArgs")
        response = {name: tool[name] for name in ("status", "result", "error") if tool.get(name) is not None}
        yield self._tell.call(text_in(tool, "toolCallId") or key, text_in(tool, "name"), given, response, at)


def _told_by_transcript(session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
    """Events of a transcript. It has no folder, time or results, so that calls of tools are left out."""
    tell = Teller(skipped, session.session_id)
    for line in json_lines(session.path, skipped):
        said = words_of(object_in(line.fields, "message"))
        for mark in _ENVELOPE:
            said = said.replace(mark, "")
        for block in objects_in(object_in(line.fields, "message").get("content")):
            if block.get("type") == "tool_use":
                skipped(NO_RESULT)
        if said.strip() == _REDACTED:
            skipped(HIDDEN)
            continue
        key = f"line {line.number}"
        match line.fields.get("role"):
            case "user":
                yield from tell.prompt(key, said.strip(), session.changed_at)
            case "assistant":
                yield from tell.answer(key, said.replace(_REDACTED, ""), session.changed_at)
