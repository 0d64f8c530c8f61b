"""Memories in rows of a database or its export: of claude-mem, of kiro-memory, and of mem0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.files import (
    agent_folder,
    digest_of,
    json_document,
    json_lines,
    not_counted,
    session_in,
)
from kiro_learn.adapters.histories.foreign_database import ForeignDatabase, foreign_database, number
from kiro_learn.adapters.histories.turns import moment, objects_in, text_in
from kiro_learn.model.record import MAX_DETAIL, MAX_DETAILS, KnowledgeType, RecordDetails
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

NOTHING_IN_IT = "memories without a word"

OBSERVATION = (
    *("id", "memory_session_id", "sdk_session_id", "project", "type", "title", "subtitle", "narrative", "text"),
    *("facts", "concepts", "files_read", "files_modified", "content_hash", "created_at_epoch"),
)
SUMMARY = (
    *("id", "memory_session_id", "sdk_session_id", "session_id", "project", "request", "investigated", "learned"),
    *("completed", "next_steps", "created_at_epoch"),
)
"""The columns that are read, if the table has them."""

_TITLE_CHARACTERS = 120
_WORDED = {"learned": "Learned", "completed": "Completed", "investigated": "Investigated", "next_steps": "Next steps"}


def observation(row: dict[str, Any], project: str, skipped: Skipped) -> PastMemory | None:
    """The memory in ``row``. Lists are JSON or comma-separated; ``facts`` may hold the metadata of knowledge."""
    texts = [text_in(row, name).strip() for name in ("narrative", "text", "subtitle", "title")]
    summary = next(filter(None, texts), "")
    if not summary:
        skipped(NOTHING_IN_IT)
        return None
    kind = text_in(row, "type") or "manual"
    facts = _json(row.get("facts"))
    subtitle = text_in(row, "subtitle").strip()
    said = [subtitle] if subtitle and subtitle != summary else []
    return PastMemory(
        key=key_of(row, "observation", summary),
        project=project,
        made_at=moment(row.get("created_at_epoch")),
        type=kind,
        title=text_in(row, "title").strip() or _first_line(summary),
        summary=summary,
        text=texts[1] if texts[1] != summary else "",
        facts=(*said, *texts_in(facts)),
        concepts=listed(row.get("concepts")),
        files_read=listed(row.get("files_read")),
        files_modified=listed(row.get("files_modified")),
        details=_details(kind, facts),
    )


def summary_of_session(row: dict[str, Any], project: str, skipped: Skipped) -> PastMemory | None:
    worded = tuple(f"{name}: {said}" for column, name in _WORDED.items() if (said := text_in(row, column).strip()))
    request = text_in(row, "request").strip()
    if not worded:
        skipped(NOTHING_IN_IT)
        return None
    return PastMemory(
        key=key_of(row, "summary", "\n".join((request, *worded))),
        project=project,
        made_at=moment(row.get("created_at_epoch")),
        type="session_summary",
        title=_first_line(request or worded[0]),
        summary="\n".join(worded),
    )


def key_of(row: dict[str, Any], kind: str, text: str) -> str:
    """The row's key, the same in a database and an export: not its number, which differs between databases."""
    told = json.dumps([kind, text_in(row, "project"), row.get("created_at_epoch"), text_in(row, "content_hash"), text])
    return f"{kind} {digest_of(told)}"


def listed(value: Any) -> tuple[str, ...]:
    """The texts of a list that is JSON or comma-separated."""
    found = _json(value)
    if isinstance(found, list):
        return texts_in(found)
    return tuple(filter(None, (each.strip() for each in value.split(",")))) if isinstance(value, str) else ()


def texts_in(value: Any) -> tuple[str, ...]:
    """The texts of a list that are not empty."""
    if not isinstance(value, list):
        return ()
    return tuple(each.strip() for each in value if isinstance(each, str) and each.strip())


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _details(kind: str, given: Any) -> RecordDetails | None:
    """The metadata of an item of knowledge; None for any other memory."""
    if kind not in set(KnowledgeType) or not isinstance(given, dict):
        return None
    alternatives = given.get("alternatives")
    return RecordDetails(
        severity=given["severity"] if text_in(given, "severity") in {"hard", "soft"} else None,
        reason=text_in(given, "reason")[:MAX_DETAIL] or None,
        alternatives=tuple(each[:MAX_DETAIL] for each in texts_in(alternatives)[:MAX_DETAILS]),
        context=text_in(given, "context")[:MAX_DETAIL] or None,
        confidence=given["confidence"] if text_in(given, "confidence") in {"high", "medium", "low"} else None,
    )


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()[:_TITLE_CHARACTERS]


# claude-mem keeps observations and summaries of sessions, in a database or in a file that it exported.
#
# It knows only the name of a project's folder. The whole path is found in the transcript of the session.

DATABASE = "claude-mem.db"
TABLES = frozenset({"observations", "session_summaries", "sdk_sessions"})

_AGENTS_ID = ("content_session_id", "claude_session_id")
_OWN_ID = ("memory_session_id", "sdk_session_id")
_MOST_LINES = 50
"""The most lines of a transcript that are read to find the folder."""


class ClaudeMemMemories:
    """``MemoryReader`` for claude-mem."""

    name = "claude-mem"
    title = "claude-mem"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        database = agent_folder(place, ".claude-mem", "CLAUDE_MEM_DATA_DIR") / DATABASE
        for path in (database, *(each for each in place.folders if each.suffix == ".json")):
            if path == database or _is_claude_export(path):
                yield from session_in(path, self.name)

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


def _is_claude_export(path: Path) -> bool:
    try:
        return "observations" in json_document(path, not_counted)
    except OSError:
        return False


def _rows(database: ForeignDatabase, table: str, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a table with the wanted columns that it has: versions named them differently."""
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
    """Finds the folder in which a session of Claude Code began, by its transcript."""

    def __init__(self, place: HistoryPlace) -> None:
        self._place = place
        self._known: dict[str, str] = {}

    @cached_property
    def _transcripts(self) -> dict[str, Path]:
        return {session.session_id: session.path for session in ClaudeCodeHistory().sessions(self._place)}

    def of_session(self, session_id: str) -> str:
        """The folder of the session; empty if it is not known."""
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


# An export of kiro-memory is a file of JSON lines. The first line describes the file, and each other line is a row.

OTHER_ROWS = "rows that are no memories"


class KiroMemoryMemories:
    """``MemoryReader`` for kiro-memory: reads files that a person names, since an export may be anywhere."""

    name = "kiro-memory"
    title = "kiro-memory"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in place.folders:
            if path.suffix == ".jsonl" and path.is_file():
                yield from filter(_is_export, session_in(path, self.name))

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # its rows name their projects
        for line in json_lines(store.path, skipped):
            kind = text_in(line.fields, "_type")
            tell = {"observation": observation, "summary": summary_of_session}.get(kind)
            if tell is None:
                if "_meta" not in line.fields:
                    skipped(OTHER_ROWS)
                continue
            memory = tell(line.fields, text_in(line.fields, "project"), skipped)
            if memory is not None:
                yield memory


def _is_export(store: PastSession) -> bool:
    first = next(json_lines(store.path, not_counted), None)
    return first is not None and ("_meta" in first.fields or "_type" in first.fields)


MEM0_DATABASE = "history.db"
MEM0_TABLES = frozenset({"history"})
NO_LONGER = "memories that no longer hold"


class Mem0Memories:
    """``MemoryReader`` for mem0, which keeps each change: the newest text of each memory that is not deleted."""

    name = "mem0"
    title = "mem0"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        path = agent_folder(place, ".mem0", "MEM0_DIR") / MEM0_DATABASE
        for each in dict.fromkeys((path, *(found for found in place.folders if found.name == MEM0_DATABASE))):
            yield from session_in(each, self.name)

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # mem0 knows no projects
        with foreign_database(store.path, MEM0_TABLES, skipped) as database:
            last = {
                memory: number(row)
                for memory, row in database.all(("memory_id", "rowid"), "FROM history ORDER BY rowid")
            }
            columns = ("new_memory", "event", "is_deleted", "updated_at", "created_at")
            for memory_id, row_id in last.items():
                row = database.one(columns, "FROM history WHERE rowid = ?", row_id)
                said, event, is_deleted, updated, created = row or (None,) * len(columns)
                if event == "DELETE" or number(is_deleted):
                    skipped(NO_LONGER)
                elif not said or not said.strip():
                    skipped(NOTHING_IN_IT)
                else:
                    yield _memory(memory_id or "", said.strip(), moment(updated) or moment(created))


def _memory(memory_id: str, said: str, at: datetime | None) -> PastMemory:
    told, title = digest_of(f"{memory_id}\n{said}"), said.partition("\n")[0][:_TITLE_CHARACTERS]
    return PastMemory(key=f"memory {told}", project="", made_at=at, type="memory", title=title, summary=said)
