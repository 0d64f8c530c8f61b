"""What went on in a project: records page by page and around one, sessions, figures, reports, stale files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import attrs

from kiro_learn.frontends.http.answers import Answer, Refused, error_answer, json_answer, value_answer, written
from kiro_learn.frontends.http.api.search import PROJECT, content_of
from kiro_learn.frontends.http.operations import (
    FILTERS,
    Operation,
    choice,
    filter_of,
    integer,
    optional_flag,
    optional_integer,
    optional_text,
    required_text,
)
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import Period, SessionHead
from kiro_learn.services.services import Services
from kiro_learn.services.session_context import BYTES_A_TOKEN
from kiro_learn.wire.messages import event_answer, write_record, write_value

MOST_OF_PROMPT = 200
"""Characters of a session's first prompt that lists show."""

PAGE_LIMIT = integer("limit", "The most items of a page.", default=50, least=1, most=200)
CURSOR = optional_text("cursor", "The next_cursor of the previous page.")
ANCHOR = required_text("anchor", "The id of the record in the middle of the timeline.")
BEFORE = integer("depth_before", "The most records before it.", default=5, least=0, most=50)
AFTER = integer("depth_after", "The most records after it.", default=5, least=0, most=50)
SESSION = optional_text("session", "Only of the session with this id.")
DAYS = integer("days", "How many days are counted, today included.", default=30, least=1, most=365)
DAY_COUNT = integer("days", "How many days, today included.", default=14, least=1, most=365)
ANY_PROJECT = optional_text("project", "The name, id, namespace or a folder of a project; without it, all projects.")
PERIOD = choice("period", "How long the report looks back: 7 or 30 days.", options=("week", "month"))
FORMAT = choice("format", "The format of the report.", options=("json", "markdown", "text"))
SESSION_ID = required_text("session", "The id of the session.")
TOKENS = optional_integer(
    "tokens", "The most tokens of the context, instead of [recall] brief_bytes.", least=0, most=100_000
)
BYTES = optional_integer(
    "bytes", "The most bytes of the context, instead of [recall] brief_bytes.", least=0, most=1_000_000
)
PROFILE = optional_flag("profile", "Whether the context has the project's profile, instead of [recall] profile.")
AGENT = optional_text("agent", "The agent, such as kiro-cli: what its own rule files say is left out.")


@attrs.frozen(kw_only=True)
class Page:
    """A part of a list, and the cursor of the next part."""

    items: tuple[dict[str, Any], ...]
    next_cursor: str | None


OBSERVATIONS = Operation(
    "The records of a project, newest first.", (PROJECT, *FILTERS, PAGE_LIMIT, CURSOR), answer=Page
)
KNOWLEDGE = Operation("The knowledge of a project, newest first.", (PROJECT, PAGE_LIMIT, CURSOR), answer=Page)
TIMELINE = Operation("The records made before and after one record, oldest first.", (ANCHOR, BEFORE, AFTER))
SESSIONS = Operation(
    "The sessions of a project, or of all projects, newest first.", (ANY_PROJECT, PAGE_LIMIT, CURSOR), answer=Page
)
SESSION_EVENTS = Operation(
    "The events of a session, oldest first, and the memories learned from them.",
    (PROJECT, SESSION_ID, PAGE_LIMIT, CURSOR),
    answer=Page,
)
RESUME = Operation("The last summary of a session or a project: where its work stands.", (PROJECT, SESSION))
CONTEXT = Operation("The text that a session would be told at its start.", (PROJECT, TOKENS, BYTES, PROFILE, AGENT))
ANALYTICS = Operation("Counts of a project's records, sessions and concepts.", (PROJECT, DAYS))
REPORT = Operation(
    "A report of a week or a month of a project.",
    (PROJECT, PERIOD, FORMAT),
    answer={},
    content_types=("application/json", "text/markdown", "text/plain"),
)
DAY_BY_DAY = Operation(
    "Counts for each day, and how fast prompts were answered, of a project or of all.", (ANY_PROJECT, DAY_COUNT)
)
STALE = Operation("Check which records cite files that changed, and mark them as stale.", (PROJECT,))


def activity_routes(services: Services) -> Iterator[Route]:
    yield from _lists(services)
    yield from _sessions(services)
    yield from _briefs(services)
    yield from _figures(services)
    yield from _day_by_day(services)


def _lists(services: Services) -> Iterator[Route]:
    async def observations(request: Request) -> Answer:
        return await _page(request, wanted=filter_of(request.query))

    async def knowledge(request: Request) -> Answer:
        return await _page(request, only_knowledge=True)

    async def _page(request: Request, **options: Any) -> Answer:
        query = request.query
        found = await services.activity.records(
            PROJECT.read(query), limit=PAGE_LIMIT.read(query), cursor=CURSOR.read(query), **options
        )
        return value_answer(Page(items=tuple(map(write_record, found.items)), next_cursor=found.next_cursor))

    async def timeline(request: Request) -> Answer:
        query = request.query
        found = await services.activity.timeline(
            RecordId(ANCHOR.read(query)), before=BEFORE.read(query), after=AFTER.read(query)
        )
        everything = (*found.before, found.anchor, *found.after)
        return json_answer({"anchor": found.anchor.record_id, "timeline": [_entry(record) for record in everything]})

    yield Route("GET", "/api/observations", observations, about=OBSERVATIONS)
    yield Route("GET", "/api/knowledge", knowledge, about=KNOWLEDGE)
    yield Route("GET", "/api/timeline", timeline, about=TIMELINE)


def _sessions(services: Services) -> Iterator[Route]:
    async def sessions(request: Request) -> Answer:
        query = request.query
        found = await services.activity.sessions(
            ANY_PROJECT.read(query), limit=PAGE_LIMIT.read(query), cursor=CURSOR.read(query)
        )
        return value_answer(Page(items=tuple(map(_head, found.items)), next_cursor=found.next_cursor))

    async def session(request: Request) -> Answer:
        query = request.query
        found = await services.activity.session(
            PROJECT.read(query), SESSION_ID.read(query), limit=PAGE_LIMIT.read(query), cursor=CURSOR.read(query)
        )
        if found is None:
            raise Refused(error_answer(404, "the project has no such session", hint="kiro-learn sessions list"))
        items = tuple(
            {**event_answer(event), "memories": write_value(found.memories.get(event.event_id, []))}
            for event in found.events
        )
        page = written(Page(items=items, next_cursor=found.next_cursor))
        return json_answer({"session": write_value(found.session), **page})

    async def resume(request: Request) -> Answer:
        found = await services.activity.checkpoint(PROJECT.read(request.query), SESSION.read(request.query))
        return json_answer(write_record(found))

    yield Route("GET", "/api/sessions", sessions, about=SESSIONS)
    yield Route("GET", "/api/session", session, about=SESSION_EVENTS)
    yield Route("GET", "/api/resume", resume, about=RESUME)


def _briefs(services: Services) -> Iterator[Route]:
    async def context(request: Request) -> Answer:
        query, sessions = request.query, services.session_context
        room, agent = {"tokens": TOKENS.read(query), "most_bytes": BYTES.read(query)}, AGENT.read(query) or ""
        with_profile = PROFILE.read(query)
        named = await services.project_names.resolve(PROJECT.read(query))
        found = await sessions.context(
            named.namespace,
            folder=named.folder,
            **room,
            with_profile=with_profile,
            loaded=await sessions.rule_files.loaded_by(agent, named.folder),
        )
        told = (await services.project_records.read(named, found.record_ids)).records
        return json_answer(
            {
                "project": named.name,
                "context": found.text,
                "records": found.record_ids,
                "memories": [{"id": each.record_id, "title": each.title, "type": each.type_name} for each in told],
                "tokens": found.token_count,
            }
        )

    yield Route("GET", "/api/context", context, about=CONTEXT)


def _figures(services: Services) -> Iterator[Route]:
    async def analytics(request: Request) -> Answer:
        found = await services.activity.overview(PROJECT.read(request.query), days=DAYS.read(request.query))
        activity, economics = found.activity, found.economics
        days = [{"day": day.isoformat(), "count": count} for day, count in activity.days.items()]
        tokens = {
            "tellings": economics.tellings,
            "told_bytes": economics.told_bytes,
            "replaced_bytes": economics.replaced_bytes,
            "saved_tokens": economics.saved_bytes // BYTES_A_TOKEN,
            "reduction_percent": economics.reduction_percent,
        }
        return json_answer(
            {
                "observations": activity.observations,
                "captured": activity.captured,
                "knowledge": activity.knowledge,
                "stale": activity.stale,
                "sessions": found.sessions,
                "prompts": found.prompts,
                "types": activity.types,
                "days": days,
                "token_economics": tokens,
            }
        )

    async def report(request: Request) -> Answer:
        project, form = PROJECT.read(request.query), FORMAT.read(request.query)
        period = cast("Period", PERIOD.read(request.query))
        if form == "json":
            return json_answer(write_value(await services.activity.report(project, period)))
        text = await services.activity.written_report(project, period, in_markdown=form == "markdown")
        kind = "text/markdown" if form == "markdown" else "text/plain"
        return Answer(text.encode("utf-8", "replace"), content_type=f"{kind}; charset=utf-8")

    async def stale(request: Request) -> Answer:
        return json_answer(write_value(await services.staleness.detect(PROJECT.read(request.query))))

    yield Route("GET", "/api/analytics", analytics, about=ANALYTICS)
    yield Route("GET", "/api/report", report, about=REPORT)
    yield Route("POST", "/api/stale", stale, about=STALE)


def _day_by_day(services: Services) -> Iterator[Route]:
    async def days(request: Request) -> Answer:
        project = ANY_PROJECT.read(request.query)
        named = None if project is None else await services.project_names.resolve(project)
        found = await services.activity.days(named, count=DAY_COUNT.read(request.query))
        latencies = services.retrievals.latencies(namespace=None if named is None else named.namespace)
        return json_answer(
            {
                "project": None if named is None else named.name,
                "days": [{"day": day.isoformat(), **write_value(each)} for day, each in found.days.items()],
                "memories": found.memory_count,
                "sessions": dict(found.session_counts),
                "feedback": write_value(found.feedback),
                "latency_ms": write_value(latencies),
                "budget_ms": round(services.session_start.budget_seconds * 1000),
            }
        )

    yield Route("GET", "/api/days", days, about=DAY_BY_DAY)


def _head(head: SessionHead) -> dict[str, Any]:
    """A session in a list: its figures, and its first prompt."""
    opening = {} if head.opening is None else event_answer(head.opening)
    prompt = opening.get("text") if opening.get("kind") == "prompt" else None
    return {
        **write_value(head.session),
        "agent": opening.get("agent"),
        "first_prompt": None if prompt is None else prompt[:MOST_OF_PROMPT],
        "memory_count": head.memory_count,
    }


def _entry(record: MemoryRecord) -> Mapping[str, Any]:
    """A record in a timeline: its title, content, type and time."""
    written = write_record(record)
    return {
        "id": record.record_id,
        "title": record.title,
        "content": content_of(record),
        "type": record.type_name,
        "created_at": written["created_at"],
    }
