"""Searches whose results say how they came to their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.frontends.http.answers import Answer, Refused, header_value, json_answer
from kiro_learn.frontends.http.filters import FILTERS, filter_of
from kiro_learn.frontends.http.operations import (
    Operation,
    flag,
    integer,
    optional_number,
    required_text,
)
from kiro_learn.frontends.http.query import Query
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.moment import to_text
from kiro_learn.model.record import MAX_SUMMARY, MemoryRecord
from kiro_learn.services.scored_results import ScoredResult, ScoredResults, Wanted
from kiro_learn.services.services import Services

DIGITS = 4
"""Of a signal."""

SCORE_DIGITS = 6
"""Significant ones: bm25 is tiny where a word is in every record."""

QUERY = required_text("q", "What is searched for.")
PROJECT = required_text("project", "A project's name, id, namespace, or an absolute folder in it.")
LIMIT = integer("limit", "Most results.", default=10, least=1, most=100)
OFFSET = integer("offset", "How many of the best to pass over.", default=0, least=0, most=1_000_000)
LENIENT = flag("lenient", "Look a query that does not parse, or a question without a match, up as plain words.")
THRESHOLD = optional_number("threshold", "Least cosine; by default that of the settings.", least=-1, most=1)
ACROSS = flag("across_projects", "Also search this user's other projects.")

EVERY_SEARCH = (QUERY, PROJECT, LIMIT, OFFSET, *FILTERS, ACROSS)

SIGNAL = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
RESULT = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("id", "title", "content", "type", "project")},
        "score": {"type": "number"},
        "source": {"enum": ["hybrid", "vector", "keyword"]},
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
        query = QUERY.read(request.query)
        try:
            found = await services.search_by_syntax.search(
                PROJECT.read(request.query),
                query,
                _wanted(request.query),
                is_lenient=LENIENT.read(request.query),
            )
        except QuerySyntaxError as error:
            raise Refused(_syntax_refusal(error)) from error
        return _answer(found)

    async def by_meaning(request: Request) -> Answer:
        found = await services.scored_search.by_meaning(
            PROJECT.read(request.query),
            QUERY.read(request.query),
            _wanted(request.query),
            threshold=THRESHOLD.read(request.query),
        )
        return _answer(found)

    async def hybrid(request: Request) -> Answer:
        found = await services.scored_search.hybrid(
            PROJECT.read(request.query), QUERY.read(request.query), _wanted(request.query)
        )
        return _answer(found)

    yield Route("GET", "/api/search", by_syntax, about=BY_SYNTAX)
    yield Route("GET", "/api/semantic-search", by_meaning, about=BY_MEANING)
    yield Route("GET", "/api/hybrid-search", hybrid, about=HYBRID)


def _wanted(query: Query) -> Wanted:
    return Wanted(
        limit=LIMIT.read(query),
        offset=OFFSET.read(query),
        filter=filter_of(query),
        across_projects=ACROSS.read(query),
    )


def _answer(found: ScoredResults) -> Answer:
    results = [write_result(result) for result in found.results]
    headers = {"X-Degraded": header_value("; ".join(found.degraded))} if found.degraded else {}
    value: dict[str, Any] = {"results": results, "count": len(results)}
    if found.is_nothing_near:
        value["nothing_near"] = True
    if found.problem is not None:
        value["problem"] = {"position": found.problem.position, "problem": found.problem.problem}
    return json_answer(value, headers=headers)


def _syntax_refusal(error: QuerySyntaxError) -> Answer:
    hint = error.hint or "Put what is meant literally in double quotes, or ask with lenient=true."
    details = {"path": "q", "position": error.position, "problem": error.problem}
    value = {"error": "the query does not parse", "hint": hint, "details": [details]}
    return json_answer(value, status=400)


def write_result(result: ScoredResult) -> Mapping[str, Any]:
    """As the search guide shows a result; with ``stale_at`` if its files are known to have changed."""
    signals = result.signals
    stale = {} if result.record.stale_at is None else {"stale_at": to_text(result.record.stale_at)}
    return {
        "id": result.record.record_id,
        "title": result.record.title,
        "content": content_of(result.record),
        "type": result.record.type_name,
        "project": result.project,
        "score": float(f"{result.score:.{SCORE_DIGITS}g}"),
        "source": result.source,
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
