"""What claude-mem keeps: observations and summaries of sessions, in a database, or in a file that it exported.

It knows a project by the name of its folder alone; the folder is found by the transcript of the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.files import agent_folder, session_in
from kiro_learn.adapters.histories.foreign_database import ForeignDatabase, foreign_database, not_counted, number
from kiro_learn.adapters.histories.json_documents import json_document
from kiro_learn.adapters.histories.json_lines import json_lines
from kiro_learn.adapters.histories.memory_rows import OBSERVATION, SUMMARY, observation, summary_of_session
from kiro_learn.adapters.histories.words import objects_in, text_in
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

DATABASE = "claude-mem.db"
TABLES = frozenset({"observations", "session_summaries", "sdk_sessions"})

_AGENTS_ID = ("content_session_id", "claude_session_id")
_OWN_ID = ("memory_session_id", "sdk_session_id")
_MOST_LINES = 50
"""Of a transcript, until one names the folder."""


class ClaudeMemMemories:
    """``MemoryReader`` of claude-mem."""

    name = "claude-mem"
    title = "claude-mem"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        database = agent_folder(place, ".claude-mem", "CLAUDE_MEM_DATA_DIR") / DATABASE
        for path in (database, *(each for each in place.folders if each.suffix == ".json")):
            store = session_in(path, self.name) if path == database or _is_export(path) else None
            if store is not None:
                yield store

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        folders = _Folders(place)
        if store.path.suffix == ".json":
            export = json_document(store.path, skipped)
            sessions = objects_in(export.get("sessions"))
            yield from _told("observations", objects_in(export.get("observations")), sessions, folders, skipped)
            yield from _told("summaries", objects_in(export.get("summaries")), sessions, folders, skipped)
            return
        with foreign_database(store.path, TABLES, skipped) as database:
            sessions = list(_rows(database, "sdk_sessions", (*_AGENTS_ID, *_OWN_ID)))
            yield from _told("observations", _rows(database, "observations", OBSERVATION), sessions, folders, skipped)
            yield from _told("summaries", _rows(database, "session_summaries", SUMMARY), sessions, folders, skipped)


def _is_export(path: Path) -> bool:
    try:
        return "observations" in json_document(path, not_counted)
    except OSError:
        return False


def _rows(database: ForeignDatabase, table: str, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each row of a table, with those of the wanted columns that it has: their names changed with the versions."""
    columns = [name for name in wanted if name in database.columns(table)]
    for (row_id,) in database.all(("rowid",), f"FROM {table} ORDER BY rowid") if columns else ():
        row = database.one(columns, f"FROM {table} WHERE rowid = ?", number(row_id))
        if row is not None:
            fields: dict[str, Any] = dict(zip(columns, row, strict=True))
            yield {**fields, "created_at_epoch": number(fields.get("created_at_epoch")) or None}


def _told(
    kind: str,
    rows: Iterator[dict[str, Any]] | list[dict[str, Any]],
    sessions: list[dict[str, Any]],
    folders: _Folders,
    skipped: Skipped,
) -> Iterator[PastMemory]:
    agents = {_first(session, _OWN_ID): _first(session, _AGENTS_ID) for session in sessions}
    tell = observation if kind == "observations" else summary_of_session
    for row in rows:
        folder = folders.of_session(agents.get(_first(row, _OWN_ID), ""))
        memory = tell(row, folder or text_in(row, "project"), skipped)
        if memory is not None:
            yield memory


def _first(row: dict[str, Any], names: Sequence[str]) -> str:
    return next(filter(None, (text_in(row, name) for name in names)), "")


class _Folders:
    """In which folder each session of Claude Code began, as its transcript says."""

    def __init__(self, place: HistoryPlace) -> None:
        self._place = place
        self._known: dict[str, str] = {}

    @cached_property
    def _transcripts(self) -> dict[str, Path]:
        return {session.session_id: session.path for session in ClaudeCodeHistory().sessions(self._place)}

    def of_session(self, session_id: str) -> str:
        """Empty if it is not known."""
        if session_id not in self._known:
            path = self._transcripts.get(session_id)
            self._known[session_id] = "" if path is None else _folder_in(path)
        return self._known[session_id]


def _folder_in(transcript: Path) -> str:
    try:
        for line in json_lines(transcript, not_counted):
            if folder := text_in(line.fields, "cwd"):
                return folder
            if line.number > _MOST_LINES:
                return ""
    except OSError:
        return ""
    return ""
