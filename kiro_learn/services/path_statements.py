"""Tells a session what was said by hand of a file or folder, when its prompt or its next step names what lies there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

import trio

from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.graph import Fact, GraphKind, Preference, SourceType
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.rendering.brief import StatedItem, render_for_path
from kiro_learn.runtime.supervisor import catch_errors

SECONDS = 0.1
"""How long an agent waits for it at most."""

MOST_LISTED = 200
MOST_PATHS = 50
"""That one prompt or step may name; of longer texts the beginning is read."""
MOST_CHARACTERS = 20_000

_NAME = re.compile(r"[\w./@+~-]+")


class PathStatements:
    """Each is told once a session."""

    def __init__(self, storage: GraphReads, sessions: SessionLedger) -> None:
        self._storage = storage
        self._sessions = sessions

    async def on(self, event: Event) -> str:
        """What the session of ``event``, a prompt or a use of a tool that is about to happen, is told.

        Nothing is raised, and what is late is not told.
        """
        paths = _paths_in(event)
        found: object = None
        if paths:
            with trio.move_on_after(SECONDS):
                found = await catch_errors("statements of paths", lambda: self._about(event.namespace, paths))
        session = (event.namespace, event.session_id)
        said = found if isinstance(found, list) else []
        new = [each for each in said if self._sessions.may_remind(session, each.item_id)]
        text = render_for_path(new)
        if text:
            self._sessions.remind(session, [each.item_id for each in new])
        return text

    async def _about(self, namespace: Namespace, paths: frozenset[str]) -> list[StatedItem]:
        """Said of these, the newest first."""
        asked = GraphList(namespace=namespace, kind=GraphKind.PREFERENCE, limit=MOST_LISTED)
        listed = list(await self._storage.list_graph_items(asked))
        for entity in await self._storage.find_named_entities(namespace, paths):
            about = GraphList(namespace=namespace, kind=GraphKind.FACT, limit=MOST_LISTED, about=entity.item_id)
            listed += await self._storage.list_graph_items(about)
        return [
            each
            for each in listed
            if (isinstance(each, Preference) and each.path in paths)
            or (isinstance(each, Fact) and each.source_type is SourceType.CORRECTED)
        ]


def _paths_in(event: Event) -> frozenset[str]:
    """What the event names in its project, and the folders in which that lies; relative to the project's folder."""
    folder = event.source.project_path or "/"
    found: list[str] = []
    names = (name.lstrip("@").rstrip(".") for name in _NAME.findall(_text_of(event)[:MOST_CHARACTERS]))
    for name in islice((each for each in names if "/" in each or "." in each), MOST_PATHS):
        path = PurePosixPath(name)
        if path.is_absolute():
            path = path.relative_to(folder) if path.is_relative_to(folder) else PurePosixPath()
        found += (str(each) for each in (path, *path.parents))
    return frozenset(found) - {".", "/"}


def _text_of(event: Event) -> str:
    if event.kind is EventKind.PROMPT:
        return query_text(event.body)
    data = event.body.data if isinstance(event.body, JsonBody) else None
    return "\n".join(_strings(data.get("tool_input"))) if isinstance(data, dict) else ""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
