"""Methods of the SDK as functions that build their calls: the contents and the activity of a project.

A person's feedback on one memory is here too.
"""

from __future__ import annotations

from typing import Literal, Unpack
from urllib.parse import quote

from kiro_learn.client import reading
from kiro_learn.client.building import Call, Caller, Filters, Json, Named, encoded, get_call, written_filters
from kiro_learn.client.calls import path_of
from kiro_learn.client.results import (
    Analytics,
    FeedbackCounts,
    Memory,
    MemoryPage,
    Period,
    ProjectFact,
    Report,
    ReportForm,
    Session,
    SessionContext,
    TimelineEntry,
)


def observations(
    client: Caller,
    /,
    *,
    limit: int = 50,
    cursor: str | None = None,
    project: Named = None,
    **filters: Unpack[Filters],
) -> Call[MemoryPage]:
    """The memories of a project, including learned ones, newest first.

    Args:
      cursor: the ``next_cursor`` of the page before.
      filters: which memories are wanted (``Filters``).
    """
    return get_call(
        "/api/observations",
        reading.memory_page,
        project=client.project_named(project),
        limit=limit,
        cursor=cursor,
        **written_filters(filters),
    )


def knowledge(
    client: Caller, /, *, limit: int = 50, cursor: str | None = None, project: Named = None
) -> Call[MemoryPage]:
    """The knowledge of a project, newest first.

    Args:
      cursor: the ``next_cursor`` of the page before.
    """
    named = client.project_named(project)
    return get_call("/api/knowledge", reading.memory_page, project=named, limit=limit, cursor=cursor)


def timeline(
    client: Caller,  # noqa: ARG001  # every call has one
    /,
    memory_id: str,
    *,
    before: int = 5,
    after: int = 5,
) -> Call[tuple[TimelineEntry, ...]]:
    """The memories made before and after a memory in its project, with the memory itself, oldest first.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    return get_call("/api/timeline", reading.timeline, anchor=memory_id, depth_before=before, depth_after=after)


def event(client: Caller, event_id: str, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """One event, whole, as ``GET /v1/events/{event_id}`` returns it.

    Raises:
      RequestRefused: no event has this id (404).
    """
    return get_call(f"/v1/events/{quote(event_id, safe='')}", reading.json_object)


def doctor(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The checks of the home, as ``kiro-learn doctor --json`` prints them: ``{ok, checks}``. Takes seconds."""
    return get_call("/v1/doctor", reading.json_object)


def sessions(client: Caller, /, *, limit: int = 50, project: Named = None) -> Call[tuple[Session, ...]]:
    """The sessions of a project, the latest first."""
    return get_call("/api/sessions", reading.sessions, project=client.project_named(project), limit=limit)


def session(
    client: Caller, /, session_id: str, *, limit: int = 50, cursor: str | None = None, project: Named = None
) -> Call[Json]:
    """The events of a session, oldest first, and the memories that came from each: ``{session, items, next_cursor}``.
    Raises RequestRefused: the project has no such session (404).
    """
    given = {"session": session_id, "limit": limit, "cursor": cursor}
    return get_call("/api/session", reading.json_object, project=client.project_named(project), **given)


def sources(client: Caller, /, memory_id: str) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The events that a memory came from, and the sessions that were told it: ``{record_id, event_count, items, told,
    told_by}``. Raises RequestRefused: no memory has this id (404).
    """
    return get_call(f"/v1/memories/{quote(memory_id, safe='')}/events", reading.json_object)


def resume(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Memory]:
    """The newest checkpoint of a session, or of the project.

    Raises:
      RequestRefused: there is no checkpoint (404).
    """
    return get_call("/api/resume", reading.memory, project=client.project_named(project), session=session)


def context(
    client: Caller,
    /,
    *,
    tokens: int | None = None,
    most_bytes: int | None = None,
    with_profile: bool | None = None,
    agent: str | None = None,
    project: Named = None,
) -> Call[SessionContext]:
    """The text that a session would be shown at its start: as long as there, or at most ``tokens`` tokens, each of at
    most four bytes.

    Args:
      most_bytes: in place of the setting ``recall.brief_bytes``.
      with_profile: in place of the setting ``recall.profile``.
      agent: the name of an agent's hook; statements in its rule files are not repeated.
    """
    return get_call(
        "/api/context",
        reading.session_context,
        project=client.project_named(project),
        tokens=tokens,
        bytes=most_bytes,
        profile=None if with_profile is None else str(with_profile).lower(),
        agent=agent,
    )


def settings(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The settings, each with its origin: ``{settings: [{key, value, default, origin, variable, line}]}``."""
    return get_call("/api/settings", reading.json_object)


def profile(client: Caller, /, *, project: Named = None) -> Call[tuple[ProjectFact, ...]]:
    """The languages, tools and commands of a project by its files, and how often the commands ran; empty if it has no
    manifest, or its folder is not known.
    """
    return get_call("/api/profile", reading.project_facts, project=client.project_named(project))


def report(client: Caller, /, *, period: Period = "week", project: Named = None) -> Call[Report]:
    """The activity of the last 7 or 30 days."""
    return get_call("/api/report", reading.report, project=client.project_named(project), period=period)


def written_report(
    client: Caller, /, *, period: Period = "week", form: ReportForm = "markdown", project: Named = None
) -> Call[str]:
    """The same report as a text for people."""
    named = client.project_named(project)
    return get_call("/api/report", reading.text, project=named, period=period, format=form)


def days(client: Caller, /, *, count: int = 14, project: Named = None) -> Call[Json]:
    """The activity on each of the last ``count`` days, and how fast prompts were answered, as the route returns it:
    ``{days: [{day, learned, told, prompts, sessions, calls, failures}], …}``.
    """
    return get_call("/api/days", reading.json_object, project=client.project_named(project), days=count)


def analytics(client: Caller, /, *, days: int = 30, project: Named = None) -> Call[Analytics]:
    """Figures of a project.

    Args:
      days: how many days are counted one by one, including today.
    """
    return get_call("/api/analytics", reading.analytics, project=client.project_named(project), days=days)


def judge(client: Caller, /, memory_id: str, feedback: Literal["helped", "wrong"]) -> Call[FeedbackCounts]:  # noqa: ARG001  # every call has one
    """Say that a memory that was told helped, or is wrong. Returns all its feedback, including this one.

    The memory ranks a little higher or lower because of that; it is not changed or hidden.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    body = encoded({"feedback": feedback})
    return Call("POST", f"{path_of(memory_id)}/feedback", reading.value_of(FeedbackCounts), body, is_repeatable=False)


def pin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Put a memory into every session's brief. Returns it, with ``pinned_at``.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    return Call("POST", f"{path_of(memory_id)}/pin", reading.memory, b"{}")


def unpin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Unpin a memory, if it is pinned. Returns it.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    return Call("DELETE", f"{path_of(memory_id)}/pin", reading.memory)
