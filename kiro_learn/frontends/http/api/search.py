"""Searches whose results say how they came to their place."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import attrs

from kiro_learn.frontends.http.answers import Answer, header_value, json_answer, written
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
from kiro_learn.model.record import MAX_SUMMARY, MemoryRecord
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import FoundMemory, ProjectsFound
from kiro_learn.services.services import Services

DIGITS = 4
"""Digits of a signal after the point."""

QUERY = required_text("q", "The text to search for.")
PROJECT = required_text("project", "A project's name, id, namespace, or an absolute folder in it.")
LIMIT = integer("limit", "The most results.", default=10, least=1, most=100)
OFFSET = integer("offset", "How many of the best results to skip.", default=0, least=0, most=1_000_000)
LENIENT = flag("lenient", "Search for plain words if the query does not parse, or is a question without a match.")
THRESHOLD = optional_number(
    "threshold", "The least cosine of a result; by default the one of the settings.", least=-1, most=1
)
ACROSS = flag("across_projects", "Also search this user's other projects.")

EVERY_SEARCH = (QUERY, PROJECT, LIMIT, OFFSET, *FILTERS, ACROSS)

Source = Literal["hybrid", "vector", "keyword"]
SOURCES: dict[tuple[Ranking, ...], Source] = {
    (Ranking.WORDS, Ranking.MEANING): "hybrid",
    (Ranking.MEANING,): "vector",
    (Ranking.WORDS,): "keyword",
}
"""The source of a result, by the rankings that found it."""


def _signal() -> Any:
    return attrs.field(metadata={"minimum": 0, "maximum": 1})


@attrs.frozen(kw_only=True)
class ResultSignals:
    """How a result came to its place."""

    semantic: float | None = _signal()
    fts5: float | None = _signal()
    recency: float | None = _signal()
    projectMatch: float | None = _signal()  # noqa: N815  # as the search guide has it


@attrs.frozen(kw_only=True)
class Result:
    """A memory that was found, as the search guide shows it."""

    id: str
    title: str
    content: str
    type: str
    project: str
    score: float
    source: Source
    signals: ResultSignals
    stale_at: datetime | None = None
    """When its files were found changed; None if they were not."""


@attrs.frozen(kw_only=True)
class Results:
    """The results of a search, best first."""

    results: tuple[Result, ...]
    count: int
    nothing_near: Literal[True] | None = None


BY_SYNTAX = Operation("Search by the syntax of FTS5.", (*EVERY_SEARCH, LENIENT), answer=Results)
BY_MEANING = Operation(
    "Search by meaning, over all vectors of the project.", (*EVERY_SEARCH, THRESHOLD), answer=Results
)
HYBRID = Operation("Search by words and meaning, scored by weighted signals.", EVERY_SEARCH, answer=Results)


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
    results = tuple(_result(each, answered.names[each.record.namespace]) for each in found.memories)
    headers = {"X-Degraded": header_value("; ".join(found.degraded))} if found.degraded else {}
    value = written(Results(results=results, count=len(results), nothing_near=found.is_nothing_near or None))
    if found.problem is not None:
        value["problem"] = {"position": found.problem.position, "problem": found.problem.problem}
    return json_answer(value, headers=headers)


def _result(found: FoundMemory, project: str) -> Result:
    record, signals = found.record, found.signals
    return Result(
        id=record.record_id,
        title=record.title,
        content=content_of(record),
        type=record.type_name,
        project=project,
        score=significant(found.score),
        source=SOURCES[found.found_by],
        signals=ResultSignals(
            semantic=_rounded(signals.semantic),
            fts5=_rounded(signals.fts5),
            recency=_rounded(signals.recency),
            projectMatch=signals.project_match,
        ),
        stale_at=record.stale_at,
    )


def _rounded(signal: float | None) -> float | None:
    return None if signal is None else round(signal, DIGITS)


def content_of(record: MemoryRecord) -> str:
    """The captured text, cut if it is long, or the learned summary."""
    return (record.text or record.summary)[:MAX_SUMMARY]
