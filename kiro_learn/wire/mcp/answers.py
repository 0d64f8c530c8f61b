"""Memories and sessions in the form of tools' results and resources."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.ids import to_text
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import Session
from kiro_learn.wire.mcp.offers import MARKDOWN, MEMORY, SESSION, uri_of
from kiro_learn.wire.mcp.protocol import tool_error
from kiro_learn.wire.mcp.tools import BRIEF_CHARACTERS, TEXT_CHARACTERS

CUT = "…"


def brief(record: MemoryRecord) -> dict[str, Any]:
    """The part of a memory that is enough to decide whether to read it."""
    shown = {
        "id": record.record_id,
        "type": record.type_name,
        "title": record.title,
        "summary": _cut(record.summary, BRIEF_CHARACTERS),
        "created_at": to_text(record.created_at),
    }
    marks = {"stale": True if record.stale_at else None, "pinned": True if record.pinned_at else None}
    return shown | {name: value for name, value in {**marks, "branch": record.branch}.items() if value}


def full(record: MemoryRecord, *, with_all_text: bool = False) -> dict[str, Any]:
    """A whole memory without its empty fields. Its ``text`` is cut unless all of it is wanted."""
    text = record.text if with_all_text else _cut(record.text, TEXT_CHARACTERS)
    more: dict[str, Any] = {
        "facts": list(record.facts),
        "concepts": list(record.concepts),
        "files": list(files_of(record)),
        "text": text,
        "text_is_cut": text != record.text,
        "knowledge_type": record.knowledge_type,
        "importance": record.importance,
        "origin": record.origin,
    }
    return {**brief(record), "summary": record.summary, **{name: value for name, value in more.items() if value}}


def files_of(record: MemoryRecord) -> tuple[str, ...]:
    """All files that a memory names, each once."""
    return tuple(dict.fromkeys((*record.files_touched, *record.files_modified, *record.files_read)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{CUT}"


def tool_result(value: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """A tool's result: the value, and ``text`` for clients that read only text; by default the value as JSON."""
    said = json.dumps(value, ensure_ascii=False) if text is None else text
    return {"content": [{"type": "text", "text": said}], "structuredContent": value}


def failure_result(error: KiroLearnError) -> dict[str, Any]:
    """A tool's result that says what went wrong, and what to do about it."""
    problems = error.problems if isinstance(error, InvalidRequest) else ()
    said = "; ".join(f"{path}: {problem}" for path, problem in problems) or str(error)
    return tool_error(f"{said}\nhint: {error.hint}" if error.hint else said)


def memory_contents(record: MemoryRecord) -> dict[str, Any]:
    """A memory as a resource."""
    lines = [
        f"# {record.title}",
        "",
        f"{record.type_name} · {to_text(record.created_at)} · {record.record_id}",
        "",
        record.summary,
        *(["", *(f"- {fact}" for fact in record.facts)] if record.facts else []),
        *(["", f"Concepts: {', '.join(record.concepts)}"] if record.concepts else []),
        *(["", f"Files: {', '.join(files_of(record))}"] if files_of(record) else []),
        *(["", record.text] if record.text and not record.text.startswith(record.summary) else []),
    ]
    return _contents(uri_of(MEMORY, record.record_id), lines)


def session_contents(
    session: Session, checkpoint: MemoryRecord | None, records: Iterable[MemoryRecord]
) -> dict[str, Any]:
    """A session as a resource. ``checkpoint``: its state, if it was stored; ``records``: memories made during the
    session.
    """
    when = f"{to_text(session.started_at)} to {to_text(session.last_event_at)}"
    how_much = f"{session.prompt_count} prompts, {session.event_count} events"
    lines = [f"# Session {session.session_id}", "", f"{when}: {how_much}"]
    if checkpoint is not None:
        lines += ["", f"## {checkpoint.title}", "", checkpoint.summary, *(f"- {fact}" for fact in checkpoint.facts)]
    listed = [f"- {record.title} ({record.type_name}, {record.record_id})" for record in records]
    return _contents(uri_of(SESSION, session.session_id), lines + (["", "## Memories", "", *listed] if listed else []))


def _contents(uri: str, lines: list[str]) -> dict[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": "\n".join(lines) + "\n"}]}


def listed_memory(record: MemoryRecord) -> dict[str, Any]:
    """A memory in the list of resources."""
    return {
        "uri": uri_of(MEMORY, record.record_id),
        "name": record.record_id,
        "title": record.title,
        "description": _cut(record.summary, BRIEF_CHARACTERS),
        "mimeType": MARKDOWN,
    }


def listed_session(session: Session) -> dict[str, Any]:
    """A session in the list of resources."""
    return {
        "uri": uri_of(SESSION, session.session_id),
        "name": session.session_id,
        "title": f"Session of {to_text(session.last_event_at)}",
        "description": f"{session.prompt_count} prompts, {session.event_count} events",
        "mimeType": MARKDOWN,
    }
