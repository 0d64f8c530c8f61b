"""Methods of the SDK as functions that build their calls: what there is in a project, and what went on in it.

What a person says of one memory is among them.
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
    """The memories of a project, learned ones too, newest first.

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
    """What was made around a memory in its project, and the memory itself, oldest first.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    return get_call("/api/timeline", reading.timeline, anchor=memory_id, depth_before=before, depth_after=after)


def event(client: Caller, event_id: str, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """One thing that an agent reported, whole, as ``GET /v1/events/{event_id}`` answers it.

    Raises:
      RequestRefused: there is none of this id (404).
    """
    return get_call(f"/v1/events/{quote(event_id, safe='')}", reading.json_object)


def doctor(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The checks of the home, as ``kiro-learn doctor --json`` prints them: ``{ok, checks}``. Takes seconds."""
    return get_call("/v1/doctor", reading.json_object)


def sessions(client: Caller, /, *, limit: int = 50, project: Named = None) -> Call[tuple[Session, ...]]:
    """The sessions of a project, the last first."""
    return get_call("/api/sessions", reading.sessions, project=client.project_named(project), limit=limit)


def session(
    client: Caller, /, session_id: str, *, limit: int = 50, cursor: str | None = None, project: Named = None
) -> Call[Json]:
    """What a session reported, oldest first, and the memories that came from each event: ``{session, items,
    next_cursor}``. Raises RequestRefused: the project has no such session (404).
    """
    given = {"session": session_id, "limit": limit, "cursor": cursor}
    return get_call("/api/session", reading.json_object, project=client.project_named(project), **given)


def sources(client: Caller, /, memory_id: str) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The events that a memory came from, and who was told it: ``{record_id, event_count, items, told, told_by}``.
    Raises RequestRefused: there is none with this id (404).
    """
    return get_call(f"/v1/memories/{quote(memory_id, safe='')}/events", reading.json_object)


def resume(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Memory]:
    """Where a session stands, or where the project's last one does: its newest summary.

    Raises:
      RequestRefused: there is none (404).
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
    """What a session would be told at its start: as much as it is told, or at most ``tokens`` tokens, of four bytes at
    most.

    Args:
      most_bytes: instead of the setting ``recall.brief_bytes``.
      with_profile: instead of the setting ``recall.profile``.
      agent: whose rule files say things that are not told again, by the name of its hook.
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
    """The settings, each with where it comes from: ``{settings: [{key, value, default, origin, variable, line}]}``."""
    return get_call("/api/settings", reading.json_object)


def profile(client: Caller, /, *, project: Named = None) -> Call[tuple[ProjectFact, ...]]:
    """What the files of a project say of its languages, tools and commands, and how often these ran; nothing where it
    has no manifest, or its folder is not known.
    """
    return get_call("/api/profile", reading.project_facts, project=client.project_named(project))


def report(client: Caller, /, *, period: Period = "week", project: Named = None) -> Call[Report]:
    """What went on in the last 7 or 30 days."""
    return get_call("/api/report", reading.report, project=client.project_named(project), period=period)


def written_report(
    client: Caller, /, *, period: Period = "week", form: ReportForm = "markdown", project: Named = None
) -> Call[str]:
    """The same report for people."""
    named = client.project_named(project)
    return get_call("/api/report", reading.text, project=named, period=period, format=form)


def days(client: Caller, /, *, count: int = 14, project: Named = None) -> Call[Json]:
    """What went on in each of the last ``count`` days, and how fast prompts were answered, as the route says it:
    ``{days: [{day, learned, told, prompts, sessions, calls, failures}], …}``.
    """
    return get_call("/api/days", reading.json_object, project=client.project_named(project), days=count)


def analytics(client: Caller, /, *, days: int = 30, project: Named = None) -> Call[Analytics]:
    """Figures of a project.

    Args:
      days: how many are counted one by one, today included.
    """
    return get_call("/api/analytics", reading.analytics, project=client.project_named(project), days=days)


def judge(client: Caller, /, memory_id: str, feedback: Literal["helped", "wrong"]) -> Call[FeedbackCounts]:  # noqa: ARG001  # every call has one
    """Say that a memory that was told helped, or is wrong: all that is known of it then.

    It is told a little sooner or later for it; nothing is changed or hidden.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    body = encoded({"feedback": feedback})
    return Call("POST", f"{path_of(memory_id)}/feedback", reading.value_of(FeedbackCounts), body, is_repeatable=False)


def pin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Let every session's brief tell a memory: the memory, with ``pinned_at``.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    return Call("POST", f"{path_of(memory_id)}/pin", reading.memory, b"{}")


def unpin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Take the pin of a memory away, if it has one: the memory.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    return Call("DELETE", f"{path_of(memory_id)}/pin", reading.memory)
