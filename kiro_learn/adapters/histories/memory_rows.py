"""Rows of memories that keep observations and summaries of sessions, as claude-mem and kiro-memory do."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from kiro_learn.adapters.histories.words import moment, text_in
from kiro_learn.model.record import MAX_DETAIL, MAX_DETAILS, KnowledgeType, RecordDetails
from kiro_learn.ports.histories import PastMemory, Skipped

NOTHING_IN_IT = "memories without a word"

OBSERVATION = (
    *("id", "memory_session_id", "sdk_session_id", "project", "type", "title", "subtitle", "narrative", "text"),
    *("facts", "concepts", "files_read", "files_modified", "content_hash", "created_at_epoch"),
)
SUMMARY = (
    *("id", "memory_session_id", "sdk_session_id", "session_id", "project", "request", "investigated", "learned"),
    *("completed", "next_steps", "created_at_epoch"),
)
"""The columns that are read, of those that there are."""

_TITLE_CHARACTERS = 120
_WORDED = {"learned": "Learned", "completed": "Completed", "investigated": "Investigated", "next_steps": "Next steps"}


def observation(row: dict[str, Any], project: str, skipped: Skipped) -> PastMemory | None:
    """Lists stand in it as JSON, or as texts with commas; the metadata of knowledge where the facts would."""
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
    """The same wherever the row is read: not its number, which is another one in each database."""
    told = json.dumps([kind, text_in(row, "project"), row.get("created_at_epoch"), text_in(row, "content_hash"), text])
    return f"{kind} {hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:32]}"


def listed(value: Any) -> tuple[str, ...]:
    """A list, as JSON or with commas."""
    found = _json(value)
    if isinstance(found, list):
        return texts_in(found)
    return tuple(filter(None, (each.strip() for each in value.split(",")))) if isinstance(value, str) else ()


def texts_in(value: Any) -> tuple[str, ...]:
    """Those of a list that say something."""
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
    """The metadata of an item of knowledge; None of anything else."""
    if kind not in set(KnowledgeType) or not isinstance(given, dict):
        return None
    severity, confidence = given.get("severity"), given.get("confidence")
    alternatives = given.get("alternatives")
    return RecordDetails(
        severity=severity if severity in {"hard", "soft"} else None,
        reason=text_in(given, "reason")[:MAX_DETAIL] or None,
        alternatives=tuple(each[:MAX_DETAIL] for each in texts_in(alternatives)[:MAX_DETAILS]),
        context=text_in(given, "context")[:MAX_DETAIL] or None,
        confidence=confidence if confidence in {"high", "medium", "low"} else None,
    )


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()[:_TITLE_CHARACTERS]
