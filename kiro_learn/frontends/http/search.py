"""The route that searches one project or all of them in one request."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import (
    choice,
    integer,
    optional_folder,
    optional_namespace,
    required_text,
)
from kiro_learn.frontends.http.query import wrong
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.services.project_search import ProjectHit, ProjectsFound
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value
from kiro_learn.wire.search_answers import hit_answer, search_answer

QUERY = required_text("query", "What is searched for.")
LIMIT = integer("limit", "Most results.", default=10, least=1, most=100)
MODE = choice(
    "mode",
    "By words and meaning, or by one of them.",
    options=(SearchMode.HYBRID, SearchMode.LEXICAL, SearchMode.SEMANTIC),
)
NAMESPACE = optional_namespace("namespace", "The project that is searched.")
FOLDER = optional_folder("cwd", "A folder in the project that is searched.")


def search_routes(services: Services) -> Iterator[Route]:
    async def search(request: Request) -> Answer:
        asked, query = request.query, QUERY.read(request.query)
        limit, mode = LIMIT.read(asked), SearchMode(MODE.read(asked))
        namespace, folder = NAMESPACE.read(asked), FOLDER.read(asked)
        if namespace is not None and folder is not None:
            raise wrong("cwd does not go with namespace", FOLDER.name, "expected one of the two")
        if namespace is not None:
            found = await services.project_search.in_project(namespace, query, limit=limit, mode=mode)
        elif folder is not None:
            found = await services.project_search.in_folder(folder, query, limit=limit, mode=mode)
        else:
            found = await services.project_search.everywhere(query, limit=limit, mode=mode)
        return json_answer(_written(found))

    yield Route("GET", "/v1/search", search, parameters=(QUERY, LIMIT, MODE, NAMESPACE, FOLDER))


def _written(found: ProjectsFound) -> dict[str, object]:
    return search_answer(
        [_hit(hit) for hit in found.hits],
        project=write_value(found.project),
        elsewhere_count=found.elsewhere_count,
        memory_count=found.memory_count,
        latency_ms=found.latency_ms,
        degraded=found.degraded,
        damaged=found.damaged,
    )


def _hit(hit: ProjectHit) -> dict[str, object]:
    found = hit.found
    return hit_answer(
        found.record, rank=hit.rank, score=found.score, found_by=found.found_by, project=hit.project.display_name
    )
