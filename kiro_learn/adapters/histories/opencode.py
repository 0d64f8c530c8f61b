"""Sessions of opencode: rows of a database, in tables of two generations; before version 1.2, many small files.

A session that an update moved is in several of these places, with the same ids. A session that an update lost is only
in the older place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.histories.files import MAX_SESSION_ID, agent_folder, files_below, json_document, session_in
from kiro_learn.adapters.histories.files import NO_JSON_FILE as NO_JSON
from kiro_learn.adapters.histories.foreign_database import ForeignDatabase, foreign_database, number
from kiro_learn.adapters.histories.turns import NO_RESULT, Teller, moment, object_in, objects_in, text_in, turns
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import read_whole_object

TABLES = frozenset({"session", "message", "part", "session_v2", "session_message"})
TAKEN_BACK = "messages that were taken back"
SUB_AGENTS = "prompts of other agents"

_RUNNING = frozenset({"pending", "running"})
_DEPTH = 2
"""The depth of a session's file: each project has a folder."""


@attrs.frozen
class _Message:
    message_id: str
    is_of_user: bool
    at: datetime | None
    parts: Sequence[dict[str, Any]]


class OpencodeHistory:
    """``HistoryReader`` for opencode."""

    name = "opencode"
    title = "opencode"
    agent = "opencode"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        folder = agent_folder(place, ".local/share", "XDG_DATA_HOME") / "opencode"
        found: dict[str, PastSession] = {}
        for path in files_below(folder, ".db"):
            if path.name.startswith("opencode"):
                for file in session_in(path, "file"):
                    for session in _in_database(file):
                        found.setdefault(session.session_id, session)
        for path in files_below(folder / "storage" / "session", ".json", depth=_DEPTH):
            for session in session_in(path, path.stem):
                found.setdefault(session.session_id, session)
        yield from found.values()

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        if session.path.suffix == ".json":
            about = json_document(session.path, skipped)
            yield from turns(_told(_Files(session, skipped).messages(), session, about, skipped), skipped)
            return
        with foreign_database(session.path, TABLES, skipped) as database:
            rows = _Rows(database, session.session_id, skipped)
            yield from turns(_told(rows.messages(), session, rows.about(), skipped), skipped)


def _in_database(file: PastSession) -> Iterator[PastSession]:
    columns = ("id", "directory", "time_updated", "time_created")
    with foreign_database(file.path, TABLES) as database:
        for table, messages in (("session_v2", "session_message"), ("session", "part")):
            if not database.columns(table):
                continue
            # All sessions in one query: without an index, a query for each would take quadratic time.
            summed = database.all(("session_id", "sum(octet_length(data))"), f"FROM {messages} GROUP BY session_id")
            sizes = {session_id: size for session_id, size in summed}  # noqa: C416  # mypy does not know a row's length
            for session_id, folder, updated, created in database.all(columns, f"FROM {table}"):
                if session_id and len(session_id) <= MAX_SESSION_ID:
                    yield attrs.evolve(
                        file,
                        session_id=session_id,
                        changed_at=moment(number(updated) or number(created)) or file.changed_at,
                        size_bytes=number(sizes.get(session_id)),
                        state=f"{updated} {sizes.get(session_id)}",
                        folder=folder or "",
                    )


def _told(
    messages: Iterator[_Message], session: PastSession, about: dict[str, Any], skipped: Skipped
) -> Iterator[PastEvent]:
    """The events of the messages, up to the message to which the person went back."""
    revert = text_in(object_in(about, "revert"), "messageID")
    is_child = bool(text_in(about, "parentID"))
    tell = Teller(skipped, session.session_id, text_in(about, "directory") or session.folder)
    is_taken_back = False
    for message in messages:
        is_taken_back = is_taken_back or (bool(revert) and message.message_id == revert)
        if is_taken_back:
            skipped(TAKEN_BACK)
        elif message.is_of_user and is_child:
            skipped(SUB_AGENTS)
        else:
            yield from _said(tell, message, skipped)


def _said(tell: Teller, message: _Message, skipped: Skipped) -> Iterator[PastEvent]:
    texts: list[str] = []
    for place, part in enumerate(message.parts):
        state = object_in(part, "state")
        match part.get("type"):
            case "text" if part.get("synthetic") is not True and part.get("ignored") is not True:
                texts.append(text_in(part, "text"))
            case "tool" if text_in(state, "status") in _RUNNING:
                skipped(NO_RESULT)
            case "tool":
                response = {name: state[name] for name in _OF_RESULT if name in state}
                name = text_in(part, "tool") or text_in(part, "name")
                key = text_in(part, "callID") or text_in(part, "id") or f"{message.message_id} {place}"
                yield tell.call(key, name, state.get("input"), response, _ended(state) or message.at)
    say = tell.prompt if message.is_of_user else tell.answer
    yield from say(message.message_id, "\n".join(filter(None, texts)), message.at)


_OF_RESULT = ("status", "output", "content", "error", "metadata")


def _ended(state: dict[str, Any]) -> datetime | None:
    return moment(object_in(state, "time").get("end"))


class _Rows:
    """The messages of a session in the database, of both generations, each once."""

    def __init__(self, database: ForeignDatabase, session_id: str, skipped: Skipped) -> None:
        self._database = database
        self._session_id = session_id
        self._skipped = skipped

    def about(self) -> dict[str, Any]:
        for table in ("session", "session_v2"):
            if self._database.columns(table):
                row = self._database.one(
                    ("directory", "parent_id", "revert"), f"FROM {table} WHERE id = ?", self._session_id
                )
                if row is not None:
                    revert = read_whole_object(row[2] or "")
                    return {"directory": row[0], "parentID": row[1], "revert": revert}
        return {}

    def messages(self) -> Iterator[_Message]:
        known = set[str]()
        for message in self._first() if self._database.columns("message") else ():
            known.add(message.message_id)
            yield message
        for message in self._second() if self._database.columns("session_message") else ():
            if message.message_id not in known:
                yield message

    def _first(self) -> Iterator[_Message]:
        keys = self._database.all(
            ("id", "time_created"), "FROM message WHERE session_id = ? ORDER BY time_created, id", self._session_id
        )
        parts: dict[str | None, list[str]] = {}
        for part_id, message_id in self._database.all(
            ("id", "message_id"), "FROM part WHERE session_id = ? ORDER BY id", self._session_id
        ):
            parts.setdefault(message_id, []).append(part_id or "")
        for message_id, created in keys:
            data = self._object("FROM message WHERE id = ?", message_id or "")
            told = [self._object("FROM part WHERE id = ?", part_id) for part_id in parts.get(message_id, ())]
            yield _Message(message_id or "", data.get("role") == "user", moment(number(created)), told)

    def _second(self) -> Iterator[_Message]:
        keys = self._database.all(
            ("id", "type", "time_created"),
            "FROM session_message WHERE session_id = ? ORDER BY seq, id",
            self._session_id,
        )
        for message_id, kind, created in keys:
            if kind in {"user", "assistant"}:
                data = self._object("FROM session_message WHERE id = ?", message_id or "")
                text = {"type": "text", "text": text_in(data, "text")}
                parts = [text] if kind == "user" else objects_in(data.get("content"))
                yield _Message(message_id or "", kind == "user", moment(number(created)), parts)

    def _object(self, rest: str, key: str) -> dict[str, Any]:
        row = self._database.one(("data",), rest, key)
        fields = None if row is None or row[0] is None else read_whole_object(row[0])
        if fields is None:
            self._skipped(NO_JSON)
        return fields or {}


class _Files:
    """The messages of a session in files: one for each message, and one for each part of a message."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._storage = session.path.parents[2]
        self._session_id = session.session_id
        self._skipped = skipped

    def messages(self) -> Iterator[_Message]:
        found: list[tuple[float, str, bool]] = []
        for path in files_below(self._storage / "message" / self._session_id, ".json"):
            data = json_document(path, self._skipped)
            created = object_in(data, "time").get("created")
            sent = created if isinstance(created, int | float) else 0
            found.append((sent, path.stem, data.get("role") == "user"))
        for sent, message_id, is_of_user in sorted(found):
            parts = [json_document(path, self._skipped) for path in self._parts(message_id)]
            yield _Message(message_id, is_of_user, moment(sent), parts)

    def _parts(self, message_id: str) -> Iterator[Path]:
        return files_below(self._storage / "part" / message_id, ".json")
