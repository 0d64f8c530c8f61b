"""Routes for the state and counts of the daemon, and for the answers to the last prompts.

Also the routes that embed the records that have no vector yet, and the live feed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from kiro_learn.frontends.http.answers import Answer, error_answer, json_answer, written
from kiro_learn.frontends.http.memories import said_in
from kiro_learn.frontends.http.operations import choice, flag, integer, moment, optional_namespace, optional_text
from kiro_learn.frontends.http.routes import EVENT_STREAM, Request, Route
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FoundRecord, Report
from kiro_learn.model.version import __version__
from kiro_learn.services.doctor import facts_of, summary
from kiro_learn.services.health import EmbedderStatus
from kiro_learn.services.learn import EmbeddingState
from kiro_learn.services.live import MOST_LISTENERS, LearnedNow, Listener, LiveEvent, StatusNow
from kiro_learn.services.retrieval_log import KEPT, RetrievalDetail, percentiles
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import feedback_answer, write_record, write_value

NAMESPACE = optional_namespace("namespace", "Only of this project.")
SIZES = flag("sizes", "Also return how many bytes each project takes.")


def status_routes(services: Services) -> Iterator[Route]:
    async def healthz(_request: Request) -> Answer:
        health = services.health
        return json_answer({"status": "ok", "version": __version__, "pid": health.pid, "build": health.build})

    async def status(_request: Request) -> Answer:
        return json_answer(await _status())

    async def _status() -> dict[str, Any]:
        conflicts = await services.session_context.rule_files.conflicts()
        status = write_value(await services.health.status())
        feedback = feedback_answer(services.aftermath.totals())
        sharing = write_value(services.sharing.status)
        return {**status, "feedback": feedback, "rule_conflicts": write_value(conflicts), "sharing": sharing}

    async def doctor(request: Request) -> Answer:
        facts = facts_of(await _status(), f"http://{request.headers['host']}")
        return json_answer(summary(await services.health.examine(facts)))

    async def stats(request: Request) -> Answer:
        counts = await services.queries.stats(NAMESPACE.read(request.query))
        projects = write_value(await services.queries.projects())
        if SIZES.read(request.query):
            sizes = await services.queries.project_sizes()
            projects = [{**each, "size_bytes": sizes.get(each["namespace"], 0)} for each in projects]
        return json_answer({**write_value(counts), "projects": projects})

    yield Route("GET", "/healthz", healthz)
    yield Route("GET", "/v1/status", status)
    yield Route("GET", "/v1/doctor", doctor)
    yield Route("GET", "/v1/stats", stats, parameters=(NAMESPACE, SIZES))


LIMIT = integer("limit", "The most prompts.", default=50, least=1, most=KEPT)
OUTCOME = choice("outcome", "Only prompts with this outcome.", options=("all", "told", "silent", "partial"))
AGENT = optional_text("agent", "Only prompts of this agent, by the name of its hook.")
PROMPTS = flag("prompts", "Also return the beginning of each prompt whose event is stored.")
SINCE = moment("since", "Only prompts of then or later; a date begins at midnight in UTC.")


def retrieval_routes(services: Services) -> Iterator[Route]:
    async def latest(request: Request) -> Answer:
        query = request.query
        found = services.retrievals.matching(
            namespace=NAMESPACE.read(query),
            outcome=OUTCOME.read(query),
            agent=AGENT.read(query),
            since=SINCE.read(query),
        )
        rates = services.retrievals.rates(namespace=NAMESPACE.read(query))
        times = {**percentiles(found), "budget": services.session_start.budget_seconds * 1000}
        shown = found[: LIMIT.read(query)]
        items = [report_value(each) for each in shown]
        if PROMPTS.read(query):
            prompts = await services.retrieval_details.prompts(shown)
            items = [{**each, "prompt": prompts.get(each["event_id"])} for each in items]
        return json_answer({"items": items, "total": len(found), "latency_ms": times, "rates": write_value(rates)})

    async def one(request: Request) -> Answer:
        return await _detail(await services.retrieval_details.of(request.path["retrieval_id"]))

    async def judge(request: Request) -> Answer:
        said = said_in(request)
        return await _detail(await services.retrieval_details.judge(request.path["retrieval_id"], said))

    async def _detail(detail: RetrievalDetail | None) -> Answer:
        if detail is None:
            return error_answer(
                404, "no such retrieval", hint="The log keeps the last 200 prompts since the daemon's start."
            )
        names = await services.project_names.names()
        value = {
            **report_value(detail.report),
            "project": names.get(detail.report.namespace),
            "prompt": detail.prompt,
            "context": detail.text,
            "is_as_told": detail.is_as_told,
            "found": [
                {
                    **_found_value(each, detail.memories.get(each.record_id)),
                    "feedback": feedback_answer(services.aftermath.counts_of(each.record_id)),
                }
                for each in detail.found
            ],
        }
        return json_answer({name: each for name, each in value.items() if name not in {"records", "unread"}})

    yield Route("GET", "/v1/retrievals", latest, parameters=(NAMESPACE, OUTCOME, AGENT, SINCE, PROMPTS, LIMIT))
    yield Route("GET", "/v1/retrievals/<retrieval_id>", one)
    yield Route("POST", "/v1/retrievals/<retrieval_id>/feedback", judge)


def report_value(report: Report) -> dict[str, Any]:
    """The report in the form of lists and of the live feed."""
    return {**write_value(report), "outcome": report.outcome}


def _found_value(found: FoundRecord, memory: MemoryRecord | None) -> dict[str, Any]:
    return {**write_value(found), "memory": None if memory is None else write_record(memory)}


def embedding_routes(services: Services) -> Iterator[Route]:
    async def stats(_request: Request) -> Answer:
        state = await services.learn.embedding_state()
        return json_answer(
            {"set_aside": state.set_aside, **written(EmbeddingFigures.of(state, services.health.embedder()))}
        )

    async def backfill(_request: Request) -> Answer:
        return json_answer({"embedded": await services.learn.backfill()})

    yield Route("GET", "/v1/embeddings/stats", stats)
    yield Route("POST", "/v1/embeddings/backfill", backfill)


@attrs.frozen(kw_only=True)
class EmbeddingFigures:
    """The figures that ``/v1`` and ``/api`` both return."""

    total: int
    embedded: int
    percentage: float = attrs.field(metadata={"minimum": 0, "maximum": 100})
    provider: str
    dimensions: int | None
    available: bool

    @classmethod
    def of(cls, state: EmbeddingState, embedder: EmbedderStatus) -> EmbeddingFigures:
        return cls(
            total=state.total,
            embedded=state.embedded,
            percentage=state.percentage,
            provider=embedder.model,
            dimensions=embedder.dimensions,
            available=embedder.is_available,
        )


# The route of the live feed: what happens, as server-sent events.

AFTER = optional_text(
    "last_event_id", "The id of the last event received, for clients that cannot send the header Last-Event-ID."
)

KINDS: Mapping[type, str] = {LearnedNow: "learned", Report: "retrieval", StatusNow: "status", type(None): "gap"}

HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
"""An event and not a comment: a page does not see comments, so a quiet daemon would look like one that hangs."""

RETRY_SECONDS = 30


class LiveLines:
    """Events as text, until the stream is closed or the listener is too slow."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __aiter__(self) -> LiveLines:
        return self

    async def __anext__(self) -> bytes:
        return "".join(map(_written, await anext(self._listener))).encode("ascii") or HEARTBEAT

    async def aclose(self) -> None:
        """Give up the listener's place."""
        self._listener.close()


def live_routes(services: Services) -> Iterator[Route]:
    async def live(request: Request) -> Answer:
        last_event_id = request.headers.get("last-event-id") or AFTER.read(request.query)
        listener = services.live.listen(last_event_id)
        if listener is None:
            hint = f"{MOST_LISTENERS} are served at once. Close a page of the viewer."
            return error_answer(503, "too many listen", hint=hint, headers={"Retry-After": str(RETRY_SECONDS)})
        return Answer(b"", content_type=EVENT_STREAM, stream=LiveLines(listener), is_endless=True)

    yield Route("GET", "/v1/live", live, parameters=(AFTER,))


def _written(event: LiveEvent) -> str:
    value = report_value(event.what) if isinstance(event.what, Report) else write_value(event.what)
    data = json.dumps(value, separators=(",", ":"))
    return f"id: {event.event_id}\nevent: {KINDS[type(event.what)]}\ndata: {data}\n\n"
