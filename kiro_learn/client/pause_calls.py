"""Calls that pause, rename or merge projects; each answers the daemon's JSON as it is."""

from __future__ import annotations

from kiro_learn.client import reading
from kiro_learn.client.building import Caller, Named, get_call, post_call
from kiro_learn.client.call import Call, Json, target_of


def pauses(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """What is paused now: ``{pauses: [{namespace, session, since}]}``."""
    return get_call("/api/pauses", reading.json_object)


def pause(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Json]:
    """Drop what hooks report of a project, or of one session in it, and tell its prompts nothing, until ``end_pause``:
    ``{namespace, session, since}``.
    """
    named = client.project_named(project)
    return post_call("/api/pauses", reading.json_object, project=named, session=session)


def end_pause(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Json]:
    """End it: ``{resumed}``, false if it was not paused."""
    target = target_of("/api/pauses", project=client.project_named(project), session=session)
    return Call("DELETE", target, reading.json_object)


def rename_project(client: Caller, /, name: str, *, project: Named = None) -> Call[Json]:
    """Call a project otherwise: ``{project, namespace, project_id, folder, namesakes}``."""
    return post_call("/api/project", reading.json_object, project=client.project_named(project), name=name)


def merge_project(client: Caller, /, into: Named, *, project: Named = None) -> Call[Json]:
    """Move all of a project into another, which also gets what comes later; answers that, as above."""
    source, target = client.project_named(project), client.project_named(into)
    return post_call("/api/project/merge", reading.json_object, is_long=True, source=source, into=target)
