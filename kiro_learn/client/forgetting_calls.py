"""Calls that forget by a selection; each answers the daemon's JSON as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from kiro_learn.client import reading
from kiro_learn.client.building import Caller, Moment, Named, post_call, spelled, written_moment
from kiro_learn.client.call import Call, Json


class Selection(TypedDict, total=False):
    """What is to be forgotten; what is left out does not matter. Memories and a query go alone."""

    project: Named
    """Without one, all of them."""
    whole: bool
    """All of the project."""
    memories: Sequence[str]
    """By whole ids."""
    query: str | None
    """In the search syntax."""
    with_events: bool
    """With memories or a query: also the events that these came from."""
    session: str | None
    since: Moment | None
    until: Moment | None
    source: str | None
    """The agent or program that reported it, or how a memory came."""
    secret: str | None
    """A text that stands in it."""
    delete_copies: bool
    """Backups that cannot be changed are deleted."""


def preview_forgetting(client: Caller, /, **selection: Unpack[Selection]) -> Call[Json]:  # noqa: ARG001  # every call has one
    """What would go: ``{events, sessions, memories, replaced, graph_items, shown, same_words}``."""
    return post_call("/api/forgetting/preview", reading.json_object, is_long=True, **_written(selection))


def forget_selected(client: Caller, /, **selection: Unpack[Selection]) -> Call[Json]:  # noqa: ARG001  # as above
    """Forget it everywhere: ``{events, sessions, memories, graph_items, is_overwritten, copies, damaged_copies}``. It
    cannot be undone. ``copies``: backups that have it still.
    """
    return post_call("/api/forgetting", reading.json_object, is_long=True, **_written(selection))


def _written(selection: Selection) -> dict[str, Any]:
    """Raises TypeError: it has a name that is none of these."""
    if unknown := selection.keys() - Selection.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    project = selection.get("project")
    written: dict[str, Any] = {
        **selection,
        "project": None if project is None else spelled(project),
        "memories": list(selection.get("memories", ())),
        "since": written_moment(selection.get("since")),
        "until": written_moment(selection.get("until")),
    }
    return {name: value for name, value in written.items() if value is not False}
