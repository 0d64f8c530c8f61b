"""Searches whose results say how they came to their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kiro_learn.frontends.http.answers import Answer, header_value, json_answer
from kiro_learn.frontends.http.memories import refusing_syntax, significant
from kiro_learn.frontends.http.operations import (
    FILTERS,
    Operation,
    filter_of,
    flag,
    integer,
    optional_number,
    required_text,
)
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.ids import to_text
from kiro_learn.model.record import MAX_SUMMARY, MemoryRecord
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import FoundMemory, ProjectsFound
from kiro_learn.services.services import Services

DIGITS = 4
"""Of a signal."""

QUERY = required_text("q", "What is searched for.")
PROJECT = required_text("project", "A project's name, id, namespace, or an absolute folder in it.")
LIMIT = integer("limit", "Most results.", default=10, least=1, most=100)
OFFSET = integer("offset", "How many of the best to pass over.", default=0, least=0, most=1_000_000)
LENIENT = flag("lenient", "Look a query that does not parse, or a question without a match, up as plain words.")
THRESHOLD = optional_number("threshold", "Least cosine; by default that of the settings.", least=-1, most=1)
ACROSS = flag("across_projects", "Also search this user's other projects.")

EVERY_SEARCH = (QUERY, PROJECT, LIMIT, OFFSET, *FILTERS, ACROSS)

SOURCES = {
    (Ranking.WORDS, Ranking.MEANING): "hybrid",
    (Ranking.MEANING,): "vector",
    (Ranking.WORDS,): "keyword",
}
"""By the rankings that found a result."""

SIGNAL = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
RESULT = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("id", "title", "content", "type", "project")},
        "score": {"type": "number"},
        "source": {"enum": list(SOURCES.values())},
        "signals": {
            "type": "object",
            "properties": dict.fromkeys(("semantic", "fts5", "recency", "projectMatch"), SIGNAL),
            "required": ["semantic", "fts5", "recency", "projectMatch"],
        },
        "stale_at": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "title", "content", "type", "project", "score", "source", "signals"],
}
RESULTS = {
    "type": "object",
    "properties": {
        "results": {"type": "array", "items": RESULT},
        "count": {"type": "integer"},
        "nothing_near": {"const": True},
    },
    "required": ["results", "count"],
}

BY_SYNTAX = Operation(
    summary="Search by the syntax of FTS5.",
    parameters=(*EVERY_SEARCH, LENIENT),
    answer=RESULTS,
)
BY_MEANING = Operation(
    summary="Search by meaning, over all vectors of the project.",
    parameters=(*EVERY_SEARCH, THRESHOLD),
    answer=RESULTS,
)
HYBRID = Operation(
    summary="Search by words and meaning, scored by weighted signals.",
    parameters=EVERY_SEARCH,
    answer=RESULTS,
)


def search_routes(services: Services) -> Iterator[Route]:
    async def by_syntax(request: Request) -> Answer:
        is_lenient = LENIENT.read(request.query)
        return await _search(request, mode=SearchMode.SYNTAX, is_lenient=is_lenient)

    async def by_meaning(request: Request) -> Answer:
        return await _search(request, mode=SearchMode.SEMANTIC, least_cosine=THRESHOLD.read(request.query))

    async def hybrid(request: Request) -> Answer:
        return await _search(request, mode=SearchMode.HYBRID)

    async def _search(request: Request, **how: Any) -> Answer:
        asked = request.query
        project, query, is_across = PROJECT.read(asked), QUERY.read(asked), ACROSS.read(asked)
        wanted = Wanted(
            limit=LIMIT.read(asked), offset=OFFSET.read(asked), filter=filter_of(asked), by_signals=True, **how
        )
        with refusing_syntax(QUERY.name, "lenient=true"):
            return _answer(await services.project_search.by_name(project, query, wanted, across_projects=is_across))

    yield Route("GET", "/api/search", by_syntax, about=BY_SYNTAX)
    yield Route("GET", "/api/semantic-search", by_meaning, about=BY_MEANING)
    yield Route("GET", "/api/hybrid-search", hybrid, about=HYBRID)


def _answer(answered: ProjectsFound) -> Answer:
    found = answered.found
    results = [_written(each, answered.names[each.record.namespace]) for each in found.memories]
    headers = {"X-Degraded": header_value("; ".join(found.degraded))} if found.degraded else {}
    value: dict[str, Any] = {"results": results, "count": len(results)}
    if found.is_nothing_near:
        value["nothing_near"] = True
    if found.problem is not None:
        value["problem"] = {"position": found.problem.position, "problem": found.problem.problem}
    return json_answer(value, headers=headers)


def _written(found: FoundMemory, project: str) -> Mapping[str, Any]:
    """As the search guide shows a result; with ``stale_at`` if its files are known to have changed."""
    record, signals = found.record, found.signals
    stale = {} if record.stale_at is None else {"stale_at": to_text(record.stale_at)}
    return {
        "id": record.record_id,
        "title": record.title,
        "content": content_of(record),
        "type": record.type_name,
        "project": project,
        "score": significant(found.score),
        "source": SOURCES[found.found_by],
        "signals": {
            "semantic": _rounded(signals.semantic),
            "fts5": _rounded(signals.fts5),
            "recency": _rounded(signals.recency),
            "projectMatch": signals.project_match,
        },
        **stale,
    }


def _rounded(signal: float | None) -> float | None:
    return None if signal is None else round(signal, DIGITS)


def content_of(record: MemoryRecord) -> str:
    """The text that was captured, its beginning if it is long, or the summary that was learned."""
    return (record.text or record.summary)[:MAX_SUMMARY]
