"""The route that tells what happens while it happens, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from kiro_learn.frontends.http.answers import Answer, error_answer
from kiro_learn.frontends.http.operations import optional_text
from kiro_learn.frontends.http.routes import EVENT_STREAM, Request, Route
from kiro_learn.frontends.http.status import report_value
from kiro_learn.model.retrieval import Report
from kiro_learn.services.live import MOST_LISTENERS, LearnedNow, Listener, LiveEvent, StatusNow
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

AFTER = optional_text("last_event_id", "The id of the last event that is known, where a header cannot be sent.")

KINDS: Mapping[type, str] = {LearnedNow: "learned", Report: "retrieval", StatusNow: "status", type(None): "gap"}

HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
"""An event and not a comment: a page is not told of those, and could not tell a quiet daemon from one that hangs."""

RETRY_SECONDS = 30


class LiveLines:
    """Events as text, until it is closed, or the listener is too slow."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __aiter__(self) -> LiveLines:
        return self

    async def __anext__(self) -> bytes:
        return "".join(map(_written, await anext(self._listener))).encode("ascii") or HEARTBEAT

    async def aclose(self) -> None:
        """Make room for another listener."""
        self._listener.close()


def live_routes(services: Services) -> Iterator[Route]:
    async def live(request: Request) -> Answer:
        last_event_id = request.headers.get("last-event-id") or AFTER.read(request.query)
        listener = services.live.listen(last_event_id)
        if listener is None:
            hint = f"{MOST_LISTENERS} are served at once. Close a page of the viewer."
            return error_answer(503, "too many listen", hint=hint, headers={"Retry-After": str(RETRY_SECONDS)})
        return Answer(b"", content_type=EVENT_STREAM, stream=LiveLines(listener))

    yield Route("GET", "/v1/live", live, parameters=(AFTER,))


def _written(event: LiveEvent) -> str:
    value = report_value(event.what) if isinstance(event.what, Report) else write_value(event.what)
    data = json.dumps(value, separators=(",", ":"))
    return f"id: {event.event_id}\nevent: {KINDS[type(event.what)]}\ndata: {data}\n\n"
