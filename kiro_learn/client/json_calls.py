"""Calls that return the daemon's JSON as it is: the graph, conflicts, forgetting, pauses, projects, sharing, retention
and exports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from kiro_learn.client import reading
from kiro_learn.client.building import (
    LEARNING_PATIENCE_SECONDS,
    LINES_TYPE,
    Call,
    Caller,
    Json,
    Moment,
    Named,
    Response,
    encoded,
    get_call,
    given,
    listed,
    post_call,
    spelled,
    target_of,
    written_moment,
)

EXPORT_PATIENCE_SECONDS = 60.0
"""The patience for the next piece of an export."""


def export(kind: str | None = None) -> Call[None]:
    """Everything, or the lines of one kind; received piece by piece."""
    target = target_of("/v1/export", kind=kind)
    return Call("GET", target, _nothing, headers={"Accept": LINES_TYPE}, patience_seconds=EXPORT_PATIENCE_SECONDS)


def take(lines: bytes) -> Call[Json]:
    """Store the pieces in lines of an export, each once by its id: ``{counts, errors}``."""
    patience = LEARNING_PATIENCE_SECONDS
    return Call("POST", "/v1/export/import", reading.json_object, lines, LINES_TYPE, patience_seconds=patience)


def _nothing(_response: Response) -> None:
    """Reads nothing: the body was received piece by piece."""


# Calls that forget by a selection; each returns the daemon's JSON as it is.


class Selection(TypedDict, total=False):
    """A choice of events and memories to forget; a key that is left out does not matter. Memories and a query are not
    combined with other keys.
    """

    project: Named
    """None: all projects."""
    whole: bool
    """The whole project."""
    memories: Sequence[str]
    """Whole ids of memories."""
    query: str | None
    """A query in the search syntax."""
    with_events: bool
    """With memories or a query: also the events that the memories came from."""
    session: str | None
    since: Moment | None
    until: Moment | None
    source: str | None
    """The agent or program that reported an event, or the origin of a memory."""
    secret: str | None
    """A text that occurs in it."""
    delete_copies: bool
    """Whether backups that cannot be changed are deleted."""


def preview_forgetting(client: Caller, /, **selection: Unpack[Selection]) -> Call[Json]:  # noqa: ARG001  # every call has one
    """What would be forgotten: ``{events, sessions, memories, replaced, graph_items, shown, same_words}``."""
    return post_call("/api/forgetting/preview", reading.json_object, is_long=True, **_written(selection))


def forget_selected(client: Caller, /, **selection: Unpack[Selection]) -> Call[Json]:  # noqa: ARG001  # as above
    """Forget the selection everywhere: ``{events, sessions, memories, graph_items, is_overwritten, copies,
    damaged_copies}``. This cannot be undone. ``copies``: backups that still hold it.
    """
    return post_call("/api/forgetting", reading.json_object, is_long=True, **_written(selection))


def _written(selection: Selection) -> dict[str, Any]:
    """The selection as fields of a body. Raises TypeError: a name is no field."""
    if unknown := selection.keys() - Selection.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    project = selection.get("project")
    memories = selection.get("memories", ())
    written: dict[str, Any] = {
        **selection,
        "project": None if project is None else spelled(project),
        "memories": memories if isinstance(memories, str) else list(memories),
        "since": written_moment(selection.get("since")),
        "until": written_moment(selection.get("until")),
    }
    return {name: value for name, value in written.items() if value is not False}


# Calls that pause, rename or merge projects; each returns the daemon's JSON as it is.


def pauses(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The present pauses: ``{pauses: [{namespace, session, since}]}``."""
    return get_call("/api/pauses", reading.json_object)


def pause(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Json]:
    """Drop all that hooks report of a project, or of one session in it, and answer its prompts with nothing, until
    ``end_pause``: ``{namespace, session, since}``.
    """
    named = client.project_named(project)
    return post_call("/api/pauses", reading.json_object, project=named, session=session)


def end_pause(client: Caller, /, *, session: str | None = None, project: Named = None) -> Call[Json]:
    """End a pause: ``{resumed}``, false if there was none."""
    target = target_of("/api/pauses", project=client.project_named(project), session=session)
    return Call("DELETE", target, reading.json_object)


def rename_project(client: Caller, /, name: str, *, project: Named = None) -> Call[Json]:
    """Give a project another name: ``{project, namespace, project_id, folder, namesakes}``."""
    return post_call("/api/project", reading.json_object, project=client.project_named(project), name=name)


def merge_project(client: Caller, /, into: Named, *, project: Named = None) -> Call[Json]:
    """Move all of a project into another one, which also gets later events. Returns that project, as
    ``rename_project``.
    """
    source, target = client.project_named(project), client.project_named(into)
    return post_call("/api/project/merge", reading.json_object, is_long=True, source=source, into=target)


# Calls about sharing with a team; each returns the daemon's JSON as it is.


def sharing(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """The state of sharing: ``{team, role, compared_at, problem, hint, projects}``."""
    return get_call("/api/share", reading.json_object)


def compare_shared(client: Caller, /) -> Call[Json]:  # noqa: ARG001  # every call has one
    """Share and receive now; returns the same as ``sharing``."""
    return post_call("/api/share", reading.json_object, is_long=True)


def withhold(client: Caller, /, memory_id: str, *, withheld: bool = True) -> Call[Json]:  # noqa: ARG001  # as above
    """Take a memory back from the team and keep it here, or let it be shared again: ``{withheld, memory}``.

    Raises:
      RequestRefused: no memory has this id (404), its project is not shared, or it is somebody else's (400).
    """
    return post_call("/api/share/withhold", reading.json_object, record_id=memory_id, withheld=withheld)


# Calls about retention; each returns the daemon's JSON as it is.


def preview(rules: dict[str, int]) -> Call[Json]:
    """What would leave the store now; ``rules`` are days by name (``event_days``), in place of the settings."""
    return get_call("/api/retention", reading.json_object, **rules)._replace(patience_seconds=LEARNING_PATIENCE_SECONDS)


def apply(rules: dict[str, int]) -> Call[Json]:
    """Apply the rules, and return what left the store. May take as long as rewriting the database."""
    return post_call("/api/retention", reading.json_object, is_long=True, **rules)


# Calls about the graph and its conflicts; each returns the daemon's JSON as it is.


def items(  # filters of a list, by name
    client: Caller,
    kind: str,
    /,
    *,
    text: str = "",
    as_of: str | None = None,
    everything: bool = False,
    limit: int = 50,
    cursor: str | None = None,
    project: Named = None,
) -> Call[Json]:
    """The facts, entities, procedures, preferences or relationships of a project, newest first.

    Args:
      as_of: a date, or a time with an offset: list items that held then.
      everything: also list items that no longer hold.
      cursor: ``next_cursor`` of the page before.
    """
    return get_call(
        "/api/graph",
        reading.json_object,
        project=client.project_named(project),
        kind=kind,
        text=text or None,
        as_of=as_of,
        all="true" if everything else None,
        limit=limit,
        cursor=cursor,
    )


def item(client: Caller, item_id: str, /, *, project: Named = None) -> Call[Json]:
    """One item of the graph, with the events that are evidence of it.

    Raises:
      RequestRefused: the project has no item with this id (404).
    """
    return get_call("/api/graph/item", reading.json_object, project=client.project_named(project), id=item_id)


def add_fact(  # its parts and scope, by name
    client: Caller,
    predicate: str,
    object_: str,
    /,
    *,
    subject: str | None = None,
    since: str | None = None,
    scope: str = "project",
    project: Named = None,
) -> Call[Json]:
    """State a fact about a project, or about ``subject``; facts that cannot hold together with it end. Returns it.

    Args:
      predicate: a predicate that the graph knows, as ``deployed_on``.
      since: a time with an offset, not in the future.
      scope: ``project``, ``person`` (all projects), or a path in the project.

    Raises:
      RequestRefused: the graph does not know the predicate (400).
    """
    said = given(predicate=predicate, object=object_, subject=subject, since=since)
    return _add(client, project, scope=scope, fact=said)


def add_preference(  # its parts and scope, by name
    client: Caller,
    value: str,
    /,
    *,
    category: str = "workflow",
    key: str | None = None,
    scope: str = "project",
    project: Named = None,
) -> Call[Json]:
    """State that something is always, or never, to be done. Returns the preference.

    Args:
      key: the subject; a preference with the same category, key and scope is replaced.
      scope: as in ``add_fact``.
    """
    return _add(client, project, scope=scope, preference=given(value=value, category=category, key=key))


def add_procedure(
    client: Caller, name: str, steps: Sequence[str], /, *, trigger: str = "", project: Named = None
) -> Call[Json]:
    """State how something is done. Returns it; it replaces the last version of the procedure with that name.

    Args:
      trigger: when to use it.
    """
    return _add(client, project, procedure={"name": name, "steps": listed(steps), "trigger": trigger})


def merge_entities(client: Caller, item_id: str, /, *, into: str, project: Named = None) -> Call[Json]:
    """Merge one entity into another, which gets its names and facts. Returns the other one.

    Raises:
      RequestRefused: the project has no items with these ids (404), or they are not two entities (400).
    """
    named = client.project_named(project)
    return post_call("/api/graph/merge", reading.json_object, project=named, id=item_id, into=into)


def _add(client: Caller, project: Named, *, scope: str = "project", **said: Json) -> Call[Json]:
    # An empty scope is sent, and refused; if it were left out, the scope would be the project.
    body = encoded({"project": client.project_named(project), "scope": scope, **said})
    return Call("POST", "/api/graph", reading.json_object, body, is_repeatable=False)


def edit(  # the fields that may be changed, by name
    client: Caller,
    item_id: str,
    /,
    *,
    object: str | None = None,  # noqa: A002  # as the API calls it
    value: str | None = None,
    steps: Sequence[str] | None = None,
    description: str | None = None,
    aliases: Sequence[str] | None = None,
    project: Named = None,
) -> Call[Json]:
    """Correct an item: the ``object`` of a fact, the ``value`` of a preference, the ``steps`` of a procedure, the
    ``description`` or all ``aliases`` of an entity. Returns the item that holds now; None: the field stays.

    Raises:
      RequestRefused: the project has no item with this id, the item has no such field, or nothing would change.
    """
    lists = {name: listed(items) for name, items in given(steps=steps, aliases=aliases).items()}
    wanted = given(object=object, value=value, description=description) | lists
    named = client.project_named(project)
    return post_call("/api/graph/item", reading.json_object, project=named, id=item_id, correction=wanted)


def picture(
    client: Caller,
    /,
    *,
    show: Sequence[str] = ("projects", "memories", "concepts"),
    limit: int = 2_000,
    everywhere: bool = False,
    project: Named = None,
) -> Call[Json]:
    """The memory of a project as ``nodes`` and ``links``, and how many nodes were ``left_out``.

    Args:
      show: some of ``projects``, ``memories``, ``concepts``, ``entities`` and ``files``.
      everywhere: all projects together.
    """
    named = None if everywhere else client.project_named(project)
    return get_call(
        "/api/graph/picture",
        reading.json_object,
        project=named,
        show=show if isinstance(show, str) else ",".join(show),
        limit=limit,
    )


def conflicts(client: Caller, /, *, everywhere: bool = False, project: Named = None) -> Call[Json]:
    """The conflicts in a project, or ``everywhere``: ``{items: [{project, sides}]}``."""
    named = None if everywhere else client.project_named(project)
    return get_call("/api/conflicts", reading.json_object, project=named)


def settle_conflict(client: Caller, /, *, keep: str, over: str, project: Named = None) -> Call[Json]:
    """Keep one side of a conflict, by its id; the other one ends.

    Raises:
      RequestRefused: they no longer contradict each other (409), or ``over`` is a line of a file (400).
    """
    named = client.project_named(project)
    return post_call("/api/conflicts", reading.json_object, project=named, keep=keep, over=over)


def context(  # the options of a block, by name
    client: Caller,
    message: str,
    /,
    *,
    history: Sequence[str] = (),
    profile: str = "resolved",
    tokens: int | None = None,
    passages: bool = False,
    project: Named = None,
) -> Call[Json]:
    """The context block for a message, made of the whole memory, with its items and the reasons for them.

    Args:
      history: the messages before it, oldest first.
      profile: ``resolved``, or ``literal`` (the document's own numbers).
      tokens: the most tokens of the block; by default those of the settings.
      passages: show of each memory the passages that answer the message, as for prompts.
    """
    body = {
        "project": client.project_named(project),
        "message": message,
        "history": [{"content": said} for said in history],
        "profile": profile,
        "passages": passages,
        "budgets": {} if tokens is None else {"memory": tokens},
    }
    return Call("POST", "/v1/context", reading.json_object, encoded(body))


def forget(client: Caller, item_id: str, /, *, project: Named = None) -> Call[Json]:
    """Delete an item for good; an entity with all facts that name it.

    Raises:
      RequestRefused: the project has no item with this id (404).
    """
    target = target_of("/api/graph/item", project=client.project_named(project), id=item_id)
    return Call("DELETE", target, reading.json_object, is_repeatable=False)
