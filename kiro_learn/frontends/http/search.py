"""The route that searches one project or all of them in one request; and what every route of a search has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.frontends.http.answers import Answer, Refused, json_answer
from kiro_learn.frontends.http.operations import (
    FILTERS,
    Query,
    choice,
    filter_of,
    integer,
    optional_folder,
    optional_namespace,
    required_text,
    wrong,
)
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import ProjectsFound
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_record, write_value

DIGITS = 6
"""Of a score: bm25 is tiny where a word is in every record."""

QUERY = required_text("query", "What is searched for.")
LIMIT = integer("limit", "Most results.", default=10, least=1, most=100)
MODE = choice("mode", "By words and meaning, by one of them, or by the syntax of FTS5.", options=tuple(SearchMode))
NAMESPACE = optional_namespace("namespace", "The project that is searched.")
FOLDER = optional_folder("cwd", "A folder in the project that is searched.")

WANTED = (LIMIT, MODE, *FILTERS)


def search_routes(services: Services) -> Iterator[Route]:
    async def search(request: Request) -> Answer:
        asked, query = request.query, QUERY.read(request.query)
        namespace, folder = NAMESPACE.read(asked), FOLDER.read(asked)
        if namespace is not None and folder is not None:
            raise wrong("cwd does not go with namespace", FOLDER.name, "expected one of the two")
        wanted = wanted_of(asked)
        with refusing_syntax(QUERY.name):
            if namespace is not None:
                found = await services.project_search.in_project(namespace, query, wanted)
            elif folder is not None:
                found = await services.project_search.in_folder(folder, query, wanted)
            else:
                found = await services.project_search.everywhere(query, wanted)
        return json_answer(_written(found))

    yield Route("GET", "/v1/search", search, parameters=(QUERY, *WANTED, NAMESPACE, FOLDER))


def wanted_of(query: Query) -> Wanted:
    """Of a search by a mode. Raises Refused."""
    return Wanted(limit=LIMIT.read(query), mode=SearchMode(MODE.read(query)), filter=filter_of(query))


@contextmanager
def refusing_syntax(parameter: str, otherwise: str = "mode=lexical") -> Iterator[None]:
    """Refuses a query that does not parse: ``details`` says where in ``parameter``, the hint what takes it as it is."""
    try:
        yield
    except QuerySyntaxError as error:
        hint = error.hint or f"Put what is meant literally in double quotes, or ask with {otherwise}."
        details = {"path": parameter, "position": error.position, "problem": error.problem}
        value = {"error": "the query does not parse", "hint": hint, "details": [details]}
        raise Refused(json_answer(value, status=400)) from error


def significant(score: float) -> float:
    """``score`` to as many digits as are worth telling, whatever its power of ten."""
    return float(f"{score:.{DIGITS}g}")


def _written(answered: ProjectsFound) -> dict[str, Any]:
    """All that a person is shown of a search; ``project`` is None if all were searched."""
    found = answered.found
    return {
        "project": write_value(answered.project),
        "hits": [
            {
                "rank": rank,
                "score": significant(each.score),
                "parts": {name: significant(part) for name, part in each.parts.items()},
                "found_by": list(each.found_by),
                "project": answered.names[each.record.namespace],
                "memory": write_record(each.record),
            }
            for rank, each in enumerate(found.memories, start=1)
        ],
        "elsewhere_count": answered.elsewhere_count,
        "memory_count": answered.memory_count,
        "latency_ms": answered.latency_ms,
        "degraded": list(found.degraded),
        "damaged": list(found.damaged),
        **({"nothing_near": True} if found.is_nothing_near else {}),
    }
