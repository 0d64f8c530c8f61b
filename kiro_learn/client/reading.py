"""From the daemon's JSON to values. Keys that are not known are passed over: a newer daemon may say more.

Each function may raise what a value raises that is not there or of another type: AttributeError, LookupError,
TypeError, ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from kiro_learn.client.building import FilesUnchecked, Json, Response
from kiro_learn.client.results import (
    Analytics,
    Details,
    EmbeddingStats,
    FeedbackCounts,
    Forgotten,
    FoundMemory,
    Memory,
    MemoryPage,
    ProjectFact,
    Recalled,
    Repeat,
    Report,
    SearchResult,
    SearchResults,
    Session,
    SessionContext,
    Signals,
    StaleDetection,
    StoredId,
    TimelineEntry,
    TokenEconomics,
    ViewerCode,
)


def json_object(response: Response) -> Json:
    """As it is."""
    value: Json = response.json()
    return value


def search_results(response: Response) -> SearchResults:
    """Of one of the searches below ``/api``."""
    value = response.json()
    problem = value.get("problem")
    return SearchResults(
        [_search_result(each) for each in value["results"]],
        degraded=tuple(response.headers["x-degraded"].split("; ")) if "x-degraded" in response.headers else (),
        problem=f"at character {problem['position'] + 1}: {problem['problem']}" if problem else None,
        nothing_near=bool(value.get("nothing_near")),
    )


def _search_result(value: Json) -> SearchResult:
    signals = value["signals"]
    return SearchResult(
        id=value["id"],
        title=value["title"],
        content=value["content"],
        type=value["type"],
        project=value["project"],
        score=float(value["score"]),
        source=value["source"],
        signals=Signals(
            _signal(signals["semantic"]),
            _signal(signals["fts5"]),
            float(signals["recency"]),
            float(signals["projectMatch"]),
        ),
        stale_at=_moment(value.get("stale_at")),
    )


def _signal(value: float | None) -> float | None:
    return None if value is None else float(value)


def stored_id(response: Response) -> StoredId:
    """Of what was handed in: its id, or -1 for a repeat."""
    value = response.json()
    if "duplicate_of" not in value:
        return str(value["id"])
    return Repeat(duplicate_of=value["duplicate_of"], differs=tuple(value.get("differs", ())))


def memory(response: Response) -> Memory:
    """Of a route that answers one memory."""
    return _memory(response.json())


def memories(response: Response) -> tuple[Memory, ...]:
    """Of a route that answers some memories at once."""
    return tuple(_memory(each) for each in response.json()["items"])


def forgotten(response: Response) -> Forgotten:
    """Of the route that forgets."""
    value = response.json()
    ids = (value["record_id"], *value.get("also_forgotten", ()))
    return Forgotten(ids, tuple(value.get("same_words", ())))


def feedback(response: Response) -> FeedbackCounts:
    """Of the route that takes what is said of a memory."""
    return _feedback(response.json())


def _feedback(value: Mapping[str, Any]) -> FeedbackCounts:
    return FeedbackCounts(**{name: value[name] for name in FeedbackCounts._fields})


def viewer_code(response: Response) -> ViewerCode:
    """Of the route that lets a browser in."""
    return ViewerCode(**response.json())


def memory_page(response: Response) -> MemoryPage:
    """Of a route that lists memories page by page."""
    value = response.json()
    return MemoryPage([_memory(each) for each in value["items"]], next_cursor=value["next_cursor"])


def _memory(value: Json) -> Memory:
    return Memory(
        id=value["record_id"],
        namespace=value["namespace"],
        strategy=value["strategy"],
        type=value.get("capture_type") or value.get("knowledge_type") or value["observation_type"],
        title=value["title"],
        summary=value["summary"],
        text=value.get("text", ""),
        facts=tuple(value.get("facts", ())),
        concepts=tuple(value.get("concepts", ())),
        files_touched=tuple(value.get("files_touched", ())),
        files_read=tuple(value.get("files_read", ())),
        files_modified=tuple(value.get("files_modified", ())),
        knowledge_type=value.get("knowledge_type"),
        details=_details(value["details"]) if value.get("details") else None,
        importance=value.get("importance"),
        origin=value.get("origin"),
        created_at=datetime.fromisoformat(value["created_at"]),
        stale_at=_moment(value.get("stale_at")),
        source_event_ids=tuple(value["source_event_ids"]),
        branch=value.get("branch"),
        pinned_at=_moment(value.get("pinned_at")),
    )


def _details(value: Json) -> Details:
    return Details(
        severity=value.get("severity"),
        reason=value.get("reason"),
        alternatives=tuple(value.get("alternatives", ())),
        context=value.get("context"),
        confidence=value.get("confidence"),
        next_steps=value.get("next_steps"),
        open_questions=tuple(value.get("open_questions", ())),
        commit=value.get("commit"),
        shared_by=value.get("shared_by"),
    )


def timeline(response: Response) -> tuple[TimelineEntry, ...]:
    """Of the route of that name."""
    return tuple(
        TimelineEntry(
            id=each["id"],
            title=each["title"],
            content=each["content"],
            type=each["type"],
            created_at=datetime.fromisoformat(each["created_at"]),
        )
        for each in response.json()["timeline"]
    )


def sessions(response: Response) -> tuple[Session, ...]:
    """Of the route of that name."""
    return tuple(
        Session(
            id=each["session_id"],
            started_at=datetime.fromisoformat(each["started_at"]),
            last_event_at=datetime.fromisoformat(each["last_event_at"]),
            event_count=each["event_count"],
            prompt_count=each["prompt_count"],
            namespace=each["namespace"],
            agent=each["agent"],
            first_prompt=each["first_prompt"],
            memory_count=each["memory_count"],
        )
        for each in response.json()["items"]
    )


def session_context(response: Response) -> SessionContext:
    """Of the route that shows what a session would be told at its start."""
    value = response.json()
    return SessionContext(value["project"], value["context"], tuple(value["records"]), value["tokens"])


def project_facts(response: Response) -> tuple[ProjectFact, ...]:
    """Of the route that reads a project's profile."""
    return tuple(_project_fact(each, each["runs"] or {}) for each in response.json()["facts"])


def _project_fact(fact: Mapping[str, Any], runs: Mapping[str, Any]) -> ProjectFact:
    return ProjectFact(
        slot=fact["slot"],
        value=fact["value"],
        source=fact["source"],
        succeeded=runs.get("succeeded", 0),
        failed=runs.get("failed", 0),
        last_at=datetime.fromisoformat(runs["last_at"]) if runs else None,
    )


def report(response: Response) -> Report:
    """Of the route of that name, as JSON."""
    value = response.json()
    return Report(
        project=value["project"],
        period=value["period"],
        since=datetime.fromisoformat(value["since"]),
        until=datetime.fromisoformat(value["until"]),
        observations=value["observations"],
        types=dict(value["types"]),
        days=_days(value["days"]),
        sessions=value["sessions"],
        prompts=value["prompts"],
        knowledge=tuple(value["knowledge"]),
        learned=tuple(value["learned"]),
        next_steps=tuple(value["next_steps"]),
        files={each["path"]: each["count"] for each in value["files"]},
    )


def text(response: Response) -> str:
    """The body as it is."""
    return response.body.decode("utf-8")


def analytics(response: Response) -> Analytics:
    """Of the route of that name."""
    value = response.json()
    tokens = value["token_economics"]
    return Analytics(
        observations=value["observations"],
        captured=value["captured"],
        knowledge=value["knowledge"],
        stale=value["stale"],
        sessions=value["sessions"],
        prompts=value["prompts"],
        types=dict(value["types"]),
        days=_days({each["day"]: each["count"] for each in value["days"]}),
        token_economics=TokenEconomics(
            tellings=tokens["tellings"],
            told_bytes=tokens["told_bytes"],
            replaced_bytes=tokens["replaced_bytes"],
            saved_tokens=tokens["saved_tokens"],
            reduction_percent=float(tokens["reduction_percent"]),
        ),
    )


def embedding_stats(response: Response) -> EmbeddingStats:
    """Of the route of that name."""
    value = response.json()
    return EmbeddingStats(
        total=value["total"],
        embedded=value["embedded"],
        percentage=float(value["percentage"]),
        provider=value["provider"],
        dimensions=value["dimensions"],
        available=value["available"],
    )


def embedded_count(response: Response) -> int:
    """How many vectors a backfill made."""
    return int(response.json()["embedded"])


def stale_detection(response: Response) -> StaleDetection:
    """Of the route that looks for stale files."""
    value = response.json()
    return StaleDetection(value["folder"], value["stale"], value["marked"], value["cleared"], value["unchecked"])


def marked_count(response: Response) -> int:
    """How many memories were newly found to be stale.

    Raises:
      FilesUnchecked: there was no folder in which to look.
    """
    found = stale_detection(response)
    if found.folder is None and found.unchecked:
        raise FilesUnchecked(found.unchecked)
    return found.marked


def recalled(response: Response) -> Recalled:
    """Of the route that says what an agent would be told with a prompt."""
    value = response.json()
    found = [
        FoundMemory(
            id=each["id"],
            title=each["title"],
            type=each["type"],
            score=float(each["score"]),
            found_by=tuple(each["found_by"]),
            told=bool(each["told"]),
            feedback=_feedback(each["feedback"]) if "feedback" in each else None,
            branch=each.get("branch"),
            is_of_branch=bool(each.get("is_of_branch")),
        )
        for each in value["found"]
    ]
    return Recalled(value["context"], tuple(value["records"]), tuple(value["degraded"]), tuple(found))


def edited_id(response: Response) -> str:
    """The id of the corrected memory."""
    return str(response.json()["id"])


def _moment(value: Any) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _days(value: Mapping[str, int]) -> dict[date, int]:
    return {date.fromisoformat(day): count for day, count in value.items()}
