"""Searches one project or all of them; each hit has its rank, its score and the rankings that found it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import attrs
import trio

from kiro_learn.model.namespace import Namespace, Project, project_id_in
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.projects import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.search import Found, FoundMemory, Search


@attrs.frozen
class SearchedProject:
    """A searched project, with its display name."""

    namespace: Namespace
    project_id: str
    display_name: str


@attrs.frozen
class ProjectHit:
    """One found memory, with its rank and project."""

    rank: int
    """Its place among all of this answer, from 1."""
    found: FoundMemory
    project: SearchedProject


@attrs.frozen(kw_only=True)
class ProjectsFound:
    """The result of a search of one project or of all."""

    project: SearchedProject | None
    """The project that was searched; None: all of them."""
    hits: tuple[ProjectHit, ...]
    elsewhere_count: int
    """Hits in other projects, up to the limit."""
    memory_count: int
    """Count of memories in what was searched."""
    latency_ms: float
    degraded: tuple[str, ...]
    damaged: tuple[str, ...]


class ProjectSearch:
    """Searches the project of a folder, or all projects, in one request."""

    def __init__(self, search: Search, storage: StorageBackend, project_finder: ProjectFinder) -> None:
        self._search = search
        self._storage = storage
        self._project_finder = project_finder

    async def in_folder(self, folder: str, query: str, *, limit: int, mode: SearchMode) -> ProjectsFound:
        """As ``in_project``, of the project that ``folder`` is in."""
        project = await self._project_finder.project_of(folder)
        return await self._in(project, query, limit=limit, mode=mode)

    async def in_project(self, namespace: Namespace, query: str, *, limit: int, mode: SearchMode) -> ProjectsFound:
        """The ``limit`` best memories of a project, best first, and how many there are in others.

        Raises:
          EmbeddingError: ``mode`` is semantic, and embedding is off or the query could not be embedded.
          StorageError: the store could not be read.
        """
        project_id = project_id_in(namespace)
        return await self._in(Project(namespace, project_id, project_id[:12]), query, limit=limit, mode=mode)

    async def everywhere(self, query: str, *, limit: int, mode: SearchMode) -> ProjectsFound:
        """The best of every project, then the second best of every project, and so on: scores of two do not compare.

        Raises as ``in_project``.
        """
        began = trio.current_time()
        known = await self._storage.list_projects()
        places = [_of(project) for project in known]
        found = [await self._search.search(place.namespace, query, limit=limit, mode=mode) for place in places]
        return _answer(places, found, limit=limit, began=began, memory_count=sum(each.memory_count for each in known))

    async def _in(self, project: Project, query: str, *, limit: int, mode: SearchMode) -> ProjectsFound:
        began = trio.current_time()
        found = await self._search.search(project.namespace, query, limit=limit, mode=mode)
        ended = trio.current_time()
        known = {each.namespace: each for each in await self._storage.list_projects()}
        here = known.pop(project.namespace, None)
        place = _of(here) if here else SearchedProject(project.namespace, project.project_id, project.project_path)
        elsewhere = await self._count(known, query, limit=limit, mode=mode)
        answer = _answer([place], [found], limit=limit, began=began, memory_count=here.memory_count if here else 0)
        return attrs.evolve(
            answer, project=place, elsewhere_count=elsewhere, latency_ms=round((ended - began) * 1000, 1)
        )

    async def _count(self, namespaces: Iterable[Namespace], query: str, *, limit: int, mode: SearchMode) -> int:
        count = 0
        for namespace in namespaces:
            if count >= limit:
                break
            count += len((await self._search.search(namespace, query, limit=limit, mode=mode)).memories)
        return min(count, limit)


def _answer(
    places: Sequence[SearchedProject], found: Sequence[Found], *, limit: int, began: float, memory_count: int
) -> ProjectsFound:
    rounds = itertools.zip_longest(*(each.memories for each in found))
    pairs = [(memory, place) for each in rounds for memory, place in zip(each, places, strict=True) if memory]
    return ProjectsFound(
        project=None,
        hits=tuple(ProjectHit(rank, *pair) for rank, pair in enumerate(pairs[:limit], start=1)),
        elsewhere_count=0,
        memory_count=memory_count,
        latency_ms=round((trio.current_time() - began) * 1000, 1),
        degraded=tuple(dict.fromkeys(reason for each in found for reason in each.degraded)),
        damaged=tuple(each_id for each in found for each_id in each.damaged),
    )


def _of(project: ProjectInfo) -> SearchedProject:
    return SearchedProject(project.namespace, project.project_id, project.display_name)
