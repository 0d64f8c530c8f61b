"""The routes below ``/v1``: one method a route, which returns its JSON unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kiro_learn.client import reading
from kiro_learn.client.building import (
    JSON_TYPE,
    LEARNING_PATIENCE_SECONDS,
    LINES_TYPE,
    PATIENCE_SECONDS,
    RELEARNING_PATIENCE_SECONDS,
    Call,
    Json,
    Response,
    encoded,
    target_of,
)
from kiro_learn.client.synchronous import KiroLearn

PAGE = 200
"""How many items one request of ``listed`` asks for."""


class Client(KiroLearn):
    """The SDK, and the routes that only the command line uses; it prints their JSON as it is."""

    def __init__(
        self, home: Path | None = None, *, url: str = "", token: str = "", patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """``home``: the daemon's home, by default the user's own; ``url``: another daemon's address in its place."""
        super().__init__(home=home, url=url, token=token, patience_seconds=patience_seconds)

    def health(self) -> Json:
        """``{status, version, pid}``, whatever state the database is in; needs no token."""
        return self._get("/healthz")

    def status(self) -> Json:
        """The present state of the daemon."""
        return self._get("/v1/status")

    def stats(self, namespace: str | None = None, *, sizes: bool = False) -> Json:
        """Counts per kind and type, and the projects; with ``sizes``, the stored bytes of each project."""
        return self._get("/v1/stats", namespace=namespace, sizes="true" if sizes else None)

    def project(self, named: str) -> Json:
        """``{project, namespace, project_id, folder, namesakes}`` of the project ``named``."""
        return self._get("/api/project", project=named)

    def project_of(self, folder: Path | str) -> Json:
        """``{namespace, project_id, project_path, branch, repository_path}`` of a folder."""
        return self._get("/v1/namespace", cwd=str(folder))

    # --- events -----------------------------------------------------------------------------------------------------

    def post_event(self, event: Json, *, retrieve: bool = False) -> Json:
        """Store an event: ``{event_id, stored, retrieval?}``. Sending it again changes nothing."""
        target = target_of("/v1/events", retrieve="true" if retrieve else None)
        return self._object("POST", target, encoded(event))

    def events(self, *, namespace: str | None = None, limit: int = 50, cursor: str | None = None) -> Json:
        """The events, newest first: ``{items, total, next_cursor}``."""
        return self._get("/v1/events", namespace=namespace, limit=limit, cursor=cursor)

    def import_events(self, events: Iterable[Json]) -> list[Json]:
        """Store events unless hooks reported them: ``{line, event_id, stored}`` or ``{line, error}`` for each."""
        lines = b"\n".join(encoded(event) for event in events)
        target = target_of("/v1/events/batch", unless_reported="true")
        return self.carry_out(
            Call("POST", target, _as_lines, lines, LINES_TYPE, patience_seconds=LEARNING_PATIENCE_SECONDS)
        )

    def flush(self, project_id: str) -> Json:
        """Learn all waiting events of a project now: ``{events, records, parked}``. Returns when that is done."""
        target = f"/v1/projects/{quote(project_id, safe='')}/flush"
        return self._object("POST", target, b"{}", patience_seconds=LEARNING_PATIENCE_SECONDS)

    def relearning(self, project_id: str, *, since: str | None = None) -> Json:
        """What ``relearn`` would do: ``{records, events, calls, calls_left, model, stays_here, memories}``.

        Reads all events, which takes some seconds for ten thousand.
        """
        target = target_of(f"/v1/projects/{quote(project_id, safe='')}/relearn", since=since)
        return self._object("GET", target, patience_seconds=LEARNING_PATIENCE_SECONDS)

    def relearn(self, project_id: str, *, since: str | None = None, accept_few: bool = False) -> Json:
        """Let a model learn again the events at or after ``since`` (ISO 8601) that were learned without a model:
        ``{events, records, replaced, protected, batches, left, stopped_because, too_little}``. May take hours.

        It stops before replacing many memories by far fewer, unless ``accept_few``.
        """
        target = f"/v1/projects/{quote(project_id, safe='')}/relearn"
        body = encoded(({"since": since} if since else {}) | ({"accept_few": True} if accept_few else {}))
        return self._object("POST", target, body, patience_seconds=RELEARNING_PATIENCE_SECONDS)

    def read_graph(self, project_id: str, *, since: str | None = None) -> Json:
        """Let the graph's rules read the events at or after ``since``: ``{events, statements, problem}``."""
        target = f"/v1/projects/{quote(project_id, safe='')}/relearn"
        body = encoded({"graph": True} | ({"since": since} if since else {}))
        return self._object("POST", target, body, patience_seconds=LEARNING_PATIENCE_SECONDS)

    # --- memories ---------------------------------------------------------------------------------------------------

    def memories(self, *, namespace: str | None = None, limit: int = 50, offset: int = 0) -> Json:
        """The memories, newest first: ``{items, total, limit, offset}``."""
        return self._get("/v1/memories", namespace=namespace, limit=limit, offset=offset)

    def stale_memories(self, namespace: str, *, limit: int = 50, offset: int = 0) -> Json:
        """Memories that cite files that are gone or changed: ``{folder, items, total, limit, offset}``."""
        return self._get("/v1/memories/stale", namespace=namespace, limit=limit, offset=offset)

    def memory(self, record_id: str) -> Json:
        """One memory, as the API documents its JSON."""
        return self._get(f"/v1/memories/{quote(record_id, safe='')}")

    def remember(self, record: Json) -> Json:
        """Store a memory: ``{record_id, stored}``; refused with 409 if its id is known."""
        return self._object("POST", "/v1/memories", encoded(record))

    def import_memories(self, records: Iterable[Json], *, folder: str | None = None) -> Json:
        """Store memories: ``{imported, skipped, errors}``. ``folder``: of their project, if it is known."""
        lines = b"\n".join(encoded(record) for record in records)
        return self._object("POST", target_of("/v1/memories/import", cwd=folder), lines, content_type=LINES_TYPE)

    def history(self, record_id: str) -> Json:
        """The replacements that led to a memory, newest first: ``{record_id, replacements, pinned_at}``."""
        return self._get(f"/v1/memories/{quote(record_id, safe='')}/history")

    def undo(self, record_id: str) -> Json:
        """Restore the memories that a memory replaced, or unpin it if it was pinned after that: ``{undone, removed,
        restored}``. Refused with 409 if it neither replaced any nor is pinned.
        """
        return self._object("POST", f"/v1/memories/{quote(record_id, safe='')}/undo", b"{}")

    def ranked_memories(self, namespace: str, query: str, *, limit: int = 10, mode: str = "hybrid") -> list[Json]:
        """The memories that fit ``query``, best first; ``mode`` is hybrid, lexical or semantic."""
        target = target_of("/v1/memories/search", namespace=namespace, query=query, limit=limit, mode=mode)
        found: list[Json] = self.carry_out(Call("GET", target, Response.json))
        return found

    def ask(self, query: str, **given: object) -> Json:
        """``{project, hits, elsewhere_count, …}`` from ``GET /v1/search``, whose other parameters may be ``given``."""
        return self._get("/v1/search", query=query, **given)

    def retrievals(self, *, namespace: str | None = None, limit: int = 50) -> Json:
        """How the last prompts were answered: ``{items, rates}``, newest first."""
        return self._get("/v1/retrievals", namespace=namespace, limit=limit)

    def retrieval(self, retrieval_id: str) -> Json:
        """All facts about one retrieval, as ``context --replay`` needs them."""
        return self._get(f"/v1/retrievals/{quote(retrieval_id, safe='')}")

    def body_of(self, call: Call[Any]) -> Any:
        """The daemon's JSON answer to a call of the SDK, unchanged."""
        return self.carry_out(call._replace(read=reading.json_object))

    def listed(self, ask: Callable[..., Call[Any]], limit: int | None) -> Json:
        """The first ``limit`` items of a paged list, or all of them: ``{items, next_cursor}``."""
        items: list[Json] = []
        cursor: str | None = None
        is_more = True
        while is_more:
            page = self.body_of(ask(limit=PAGE if limit is None else min(PAGE, limit - len(items)), cursor=cursor))
            items, cursor = items + page["items"], page["next_cursor"]
            is_more = cursor is not None and len(items) != limit
        return {"items": items, "next_cursor": cursor}

    # --- one request ------------------------------------------------------------------------------------------------

    def _get(self, path: str, **query: object) -> Json:
        return self._object("GET", target_of(path, **query))

    def _object(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        content_type: str = JSON_TYPE,
        patience_seconds: float | None = None,
    ) -> Json:
        """Send a request. It may be repeated, since everything stored below ``/v1`` has an id."""
        call = Call(method, target, reading.json_object, body, content_type, patience_seconds=patience_seconds)
        return self.carry_out(call)


def _as_lines(response: Response) -> list[Json]:
    return [json.loads(line) for line in response.body.splitlines()]
