"""Searches the project that a folder, a name or a namespace means, or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs
import trio

from kiro_learn.model.namespace import Namespace, Project, project_id_in
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.placing import Wanted
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.search import Found, Search

MOST_OTHER_PROJECTS = 50
"""Most other projects of a user that are searched too: those with most events."""


@attrs.frozen
class SearchedProject:
    """A searched project, with its display name."""

    namespace: Namespace
    project_id: str
    display_name: str


@attrs.frozen(kw_only=True)
class ProjectsFound:
    """What was found in one project or in several."""

    found: Found
    names: Mapping[Namespace, str]
    """What each of the projects is called."""
    project: SearchedProject | None = None
    """The project that was searched; None: several, or one that was named."""
    elsewhere_count: int = 0
    """Hits in other projects, up to the limit."""
    memory_count: int = 0
    """Count of memories in what was searched."""
    latency_ms: float = 0.0


class ProjectSearch:
    """Searches one project or several in one request. Each method raises as ``Search.among``."""

    def __init__(
        self,
        search: Search,
        storage: StorageBackend,
        project_finder: ProjectFinder,
        projects: ProjectNames,
        *,
        least_cosine: float,
    ) -> None:
        self._search = search
        self._storage = storage
        self._project_finder = project_finder
        self._projects = projects
        self._least_cosine = least_cosine

    async def in_folder(self, folder: str, query: str, wanted: Wanted) -> ProjectsFound:
        """As ``in_project``, of the project that ``folder`` is in."""
        return await self._in(await self._project_finder.project_of(folder), query, wanted)

    async def in_project(self, namespace: Namespace, query: str, wanted: Wanted) -> ProjectsFound:
        """The ``wanted`` memories of a project, and how many there are in others."""
        project_id = project_id_in(namespace)
        return await self._in(Project(namespace, project_id, project_id[:12]), query, wanted)

    async def everywhere(self, query: str, wanted: Wanted) -> ProjectsFound:
        """The ``wanted`` memories of all projects."""
        began, known = trio.current_time(), await self._storage.list_projects()
        names = {each.namespace: each.display_name for each in known}
        found = await self._search.among(list(names), query, wanted) if names else Found()
        memory_count = sum(each.memory_count for each in known)
        return ProjectsFound(found=found, names=names, memory_count=memory_count, latency_ms=_ms_since(began))

    async def by_name(
        self, project: str, query: str, wanted: Wanted, *, across_projects: bool = False
    ) -> ProjectsFound:
        """The ``wanted`` memories of the project that ``project`` names.

        Args:
          across_projects: also those of this user's other projects; none beside a project of another user.

        Raises:
          InvalidRequest: no project can be called so.
        """
        with trio.fail_after(self._search.patience_seconds):
            named = await self._projects.resolve(project)
            names = {named.namespace: named.name}
            if across_projects and self._projects.is_of_user(named.namespace):
                others = {name: each for name, each in (await self._projects.names()).items() if name not in names}
                names |= dict(list(others.items())[:MOST_OTHER_PROJECTS])
        if wanted.least_cosine is None:
            wanted = attrs.evolve(wanted, least_cosine=self._least_cosine)
        return ProjectsFound(found=await self._search.among(list(names), query, wanted), names=names)

    async def _in(self, project: Project, query: str, wanted: Wanted) -> ProjectsFound:
        began = trio.current_time()
        found = await self._search.among([project.namespace], query, wanted)
        latency_ms = _ms_since(began)
        known = {each.namespace: each for each in await self._storage.list_projects()}
        here = known.pop(project.namespace, None)
        name = here.display_name if here else project.project_path
        return ProjectsFound(
            found=found,
            names={project.namespace: name},
            project=SearchedProject(project.namespace, project.project_id, name),
            elsewhere_count=await self._count(known, query, wanted),
            memory_count=here.memory_count if here else 0,
            latency_ms=latency_ms,
        )

    async def _count(self, namespaces: Iterable[Namespace], query: str, wanted: Wanted) -> int:
        count = 0
        for namespace in namespaces:
            if count >= wanted.limit:
                break
            count += len((await self._search.among([namespace], query, wanted)).memories)
        return min(count, wanted.limit)


def _ms_since(began: float) -> float:
    return round((trio.current_time() - began) * 1000, 1)
