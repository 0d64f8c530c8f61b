"""The daemon's API for Python: a method per route, synchronous, with nothing but the standard library.

Rules of this file: what is answered is the route's JSON, unchanged. A client reads the daemon's address and token from
its home each time it connects, so it outlives a restart. It is not for several threads at once; each may have its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from kiro_learn.client.connection import (
    LEARNING_PATIENCE_SECONDS,
    LINES_TYPE,
    RELEARNING_PATIENCE_SECONDS,
    DaemonConnection,
    Json,
    encoded,
    target_of,
)


class Client(DaemonConnection):
    """One connection to one daemon, opened at the first request and kept.

    Every method may raise:
      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it answered with an error.
    """

    def health(self) -> Json:
        """``{status, version}``."""
        return self._get("/healthz")

    def status(self) -> Json:
        """The present state of the daemon."""
        return self._get("/v1/status")

    def stats(self, namespace: str | None = None) -> Json:
        """Counts per kind and type, and the projects."""
        return self._get("/v1/stats", namespace=namespace)

    def project_of(self, folder: Path | str) -> Json:
        """``{namespace, project_id, project_path}`` of a folder."""
        return self._get("/v1/namespace", cwd=str(folder))

    # --- events -----------------------------------------------------------------------------------------------------

    def post_event(self, event: Json, *, retrieve: bool = False) -> Json:
        """Keep an event: ``{event_id, stored, retrieval?}``. Sending it again changes nothing."""
        target = target_of("/v1/events", retrieve="true" if retrieve else None)
        return self._object("POST", target, encoded(event))

    def events(self, *, namespace: str | None = None, limit: int = 50, cursor: str | None = None) -> Json:
        """``{items, total, next_cursor}``, newest first."""
        return self._get("/v1/events", namespace=namespace, limit=limit, cursor=cursor)

    def flush(self, project_id: str) -> Json:
        """Learn all that waits for a project now: ``{events, records, parked}``. May take as long as that takes."""
        target = f"/v1/projects/{quote(project_id, safe='')}/flush"
        return self._object("POST", target, b"{}", patience_seconds=LEARNING_PATIENCE_SECONDS)

    def relearning(self, project_id: str, *, since: str | None = None) -> Json:
        """What ``relearn`` would do: ``{records, events, calls, calls_left, model, stays_here, memories}``.

        May take as long as it takes to look through all that happened: some seconds for ten thousand events.
        """
        target = target_of(f"/v1/projects/{quote(project_id, safe='')}/relearn", since=since)
        return self._object("GET", target, patience_seconds=LEARNING_PATIENCE_SECONDS)

    def relearn(self, project_id: str, *, since: str | None = None, accept_few: bool = False) -> Json:
        """Have a model learn again what was learned without one, of what happened at or after ``since`` (ISO 8601):
        ``{events, records, replaced, protected, batches, left, stopped_because, too_little}``. May take hours.

        It stops before far more would go than come, unless ``accept_few``.
        """
        target = f"/v1/projects/{quote(project_id, safe='')}/relearn"
        body = encoded(({"since": since} if since else {}) | ({"accept_few": True} if accept_few else {}))
        return self._object("POST", target, body, patience_seconds=RELEARNING_PATIENCE_SECONDS)

    # --- memories ---------------------------------------------------------------------------------------------------

    def memories(self, *, namespace: str | None = None, limit: int = 50, offset: int = 0) -> Json:
        """``{items, total, limit, offset}``, newest first."""
        return self._get("/v1/memories", namespace=namespace, limit=limit, offset=offset)

    def stale_memories(self, namespace: str, *, limit: int = 50, offset: int = 0) -> Json:
        """Those that cite files that are gone or were changed since: ``{folder, items, total, limit, offset}``."""
        return self._get("/v1/memories/stale", namespace=namespace, limit=limit, offset=offset)

    def memory(self, record_id: str) -> Json:
        """One memory: its JSON as the API documents it."""
        return self._get(f"/v1/memories/{quote(record_id, safe='')}")

    def remember(self, record: Json) -> Json:
        """Keep a memory: ``{record_id, stored}``; refused with 409 if its id is known."""
        return self._object("POST", "/v1/memories", encoded(record))

    def import_memories(self, records: Iterable[Json]) -> Json:
        """Keep many: ``{imported, skipped, errors}``."""
        lines = b"\n".join(encoded(record) for record in records)
        return self._object("POST", "/v1/memories/import", lines, content_type=LINES_TYPE)

    def forget(self, record_id: str) -> None:
        """Forget a memory everywhere, with whatever it replaced; that cannot be undone."""
        target = f"/v1/memories/{quote(record_id, safe='')}"
        # Its text is overwritten in the file first, which takes some seconds where that is large.
        self._ask("DELETE", target, patience_seconds=LEARNING_PATIENCE_SECONDS)

    def history(self, record_id: str) -> Json:
        """``{record_id, replacements}``: what a memory replaced, and what that had replaced, newest first."""
        return self._get(f"/v1/memories/{quote(record_id, safe='')}/history")

    def undo(self, record_id: str) -> Json:
        """Put back what a memory replaced: ``{undone, removed, restored}``; refused with 409 if that is nothing."""
        return self._object("POST", f"/v1/memories/{quote(record_id, safe='')}/undo", b"{}")

    def search(self, namespace: str, query: str, *, limit: int = 10, mode: str = "hybrid") -> list[Json]:
        """The memories that fit ``query`` best, best first; ``mode`` is hybrid, lexical or semantic."""
        target = target_of("/v1/memories/search", namespace=namespace, query=query, limit=limit, mode=mode)
        found: list[Json] = self._ask("GET", target)
        return found

    def ask(self, query: str, **given: object) -> Json:
        """``{project, hits, elsewhere_count, …}``: of ``GET /v1/search``, which says what may be ``given``."""
        return self._get("/v1/search", query=query, **given)

    def retrievals(self, *, namespace: str | None = None, limit: int = 50) -> Json:
        """How the last prompts were answered: ``{items, rates}``, newest first."""
        return self._get("/v1/retrievals", namespace=namespace, limit=limit)

    # --- vectors ----------------------------------------------------------------------------------------------------

    def embedding_stats(self) -> Json:
        """``{total, embedded, percentage, provider, dimensions, available}``."""
        return self._get("/v1/embeddings/stats")

    def backfill(self) -> Json:
        """Give every memory its vector: ``{embedded}``. May take as long as that takes."""
        return self._object("POST", "/v1/embeddings/backfill", b"{}", patience_seconds=LEARNING_PATIENCE_SECONDS)
