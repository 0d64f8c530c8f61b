"""Searches whose results say how they came to their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.frontends.http.answers import Answer, Refused, header_value, json_answer
from kiro_learn.frontends.http.operations import (
    Operation,
    flag,
    integer,
    moment,
    number,
    optional_text,
    required_text,
)
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.moment import to_text
from kiro_learn.model.record import MAX_SUMMARY, MemoryRecord
from kiro_learn.model.record_filter import RecordFilter
from kiro_learn.services.scored_results import ScoredResult, ScoredResults
from kiro_learn.services.services import Services

DIGITS = 4
"""Of a signal."""

SCORE_DIGITS = 6
"""Significant ones: bm25 is tiny where a word is in every record."""

QUERY = required_text("q", "What is searched for.")
PROJECT = required_text("project", "A project's name, id, namespace, or an absolute folder in it.")
LIMIT = integer("limit", "Most results.", default=10, least=1, most=100)
TYPE = optional_text("type", "Only results of this type.")
SINCE = moment("since", "Only what was made then or later.")
UNTIL = moment("until", "Only what was made before.")
LENIENT = flag("lenient", "Look a query that does not parse, or a question without a match, up as plain words.")
THRESHOLD = number("threshold", "Least cosine, -1 to 1.", default=0.3, least=-1, most=1)
ACROSS = flag("across_projects", "Also search this user's other projects.")

SIGNAL = {"type": "number", "minimum": 0, "maximum": 1}
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
    "properties": {"results": {"type": "array", "items": RESULT}, "count": {"type": "integer"}},
    "required": ["results", "count"],
}

BY_SYNTAX = Operation(
    summary="Search by the syntax of FTS5.",
    parameters=(QUERY, PROJECT, LIMIT, TYPE, SINCE, UNTIL, LENIENT),
    answer=RESULTS,
)
BY_MEANING = Operation(
    summary="Search by meaning, over all vectors of the project.",
    parameters=(QUERY, PROJECT, LIMIT, THRESHOLD),
    answer=RESULTS,
)
HYBRID = Operation(
    summary="Search by words and meaning, scored by weighted signals.",
    parameters=(QUERY, PROJECT, LIMIT, TYPE, SINCE, UNTIL, ACROSS),
    answer=RESULTS,
)


def search_routes(services: Services) -> Iterator[Route]:
    async def by_syntax(request: Request) -> Answer:
        query = QUERY.read(request.query)
        try:
            found = await services.api.search_by_syntax.search(
                PROJECT.read(request.query),
                query,
                limit=LIMIT.read(request.query),
                wanted=_filter(request),
                is_lenient=LENIENT.read(request.query),
            )
        except QuerySyntaxError as error:
            raise Refused(_syntax_refusal(error)) from error
        return _answer(found)

    async def by_meaning(request: Request) -> Answer:
        is_given = request.query.optional_text(THRESHOLD.name) is not None
        found = await services.api.scored_search.by_meaning(
            PROJECT.read(request.query),
            QUERY.read(request.query),
            limit=LIMIT.read(request.query),
            threshold=THRESHOLD.read(request.query) if is_given else None,
        )
        return _answer(found)

    async def hybrid(request: Request) -> Answer:
        found = await services.api.scored_search.hybrid(
            PROJECT.read(request.query),
            QUERY.read(request.query),
            limit=LIMIT.read(request.query),
            wanted=_filter(request),
            across_projects=ACROSS.read(request.query),
        )
        return _answer(found)

    yield Route("GET", "/api/search", by_syntax, about=BY_SYNTAX)
    yield Route("GET", "/api/semantic-search", by_meaning, about=BY_MEANING)
    yield Route("GET", "/api/hybrid-search", hybrid, about=HYBRID)


def _filter(request: Request) -> RecordFilter:
    return RecordFilter(type=TYPE.read(request.query), since=SINCE.read(request.query), until=UNTIL.read(request.query))


def _answer(found: ScoredResults) -> Answer:
    results = [write_result(result) for result in found.results]
    headers = {"X-Degraded": header_value("; ".join(found.degraded))} if found.degraded else {}
    value: dict[str, Any] = {"results": results, "count": len(results)}
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
            "semantic": round(signals.semantic, DIGITS),
            "fts5": round(signals.fts5, DIGITS),
            "recency": round(signals.recency, DIGITS),
            "projectMatch": signals.project_match,
        },
        **stale,
    }


def content_of(record: MemoryRecord) -> str:
    """The text that was captured, its beginning if it is long, or the summary that was learned."""
    return (record.text or record.summary)[:MAX_SUMMARY]
