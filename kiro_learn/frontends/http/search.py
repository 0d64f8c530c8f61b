"""The route that searches one project or all of them in one request."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.query import wrong
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.services.project_search import ProjectHit, ProjectsFound
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value
from kiro_learn.wire.search_answers import hit_answer, search_answer

DEFAULT_LIMIT, MOST = 10, 100


def search_routes(services: Services) -> Iterator[Route]:
    async def search(request: Request) -> Answer:
        asked, query = request.query, request.query.text("query")
        limit = asked.integer("limit", default=DEFAULT_LIMIT, least=1, most=MOST)
        mode = asked.choice("mode", SearchMode.HYBRID)
        namespace, folder = asked.optional_namespace(), asked.optional_text("cwd")
        if folder is not None and not folder.startswith("/"):
            raise wrong("cwd must be an absolute path", "cwd", "expected an absolute path")
        if namespace is not None:
            found = await services.project_search.in_project(namespace, query, limit=limit, mode=mode)
        elif folder is not None:
            found = await services.project_search.in_folder(folder, query, limit=limit, mode=mode)
        else:
            found = await services.project_search.everywhere(query, limit=limit, mode=mode)
        return json_answer(_written(found))

    yield Route("GET", "/v1/search", search)


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
