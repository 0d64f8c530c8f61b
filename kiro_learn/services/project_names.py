"""Resolves what a person or a program calls a project to its namespace, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

import attrs
import trio

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.namespace import (
    MAX_PROJECT_CHARACTERS,
    NAMESPACE_PATTERN,
    Namespace,
    namespace_of,
    project_id_in,
)
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.projects import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend

FRESH_SECONDS = 10.0
"""How long the list of projects is cached: counting the events of each takes longer than most searches."""

_NAME = re.compile(rf"[^/\x00-\x1f\x7f]{{1,{MAX_PROJECT_CHARACTERS}}}")


@attrs.frozen
class NamedProject:
    """A project, and the name by which it was asked for."""

    namespace: Namespace
    name: str
    folder: str | None = None
    """Its root, if it was named by a folder in it, or is known by one."""


class ProjectNames:
    """Knows the projects of one user, and no others by name."""

    def __init__(self, storage: StorageBackend, project_finder: ProjectFinder, *, actor_id: str) -> None:
        self._storage = storage
        self._project_finder = project_finder
        self._actor_id = actor_id
        self._known: tuple[ProjectInfo, ...] = ()
        self._known_until = -1.0

    async def resolve(self, project: str) -> NamedProject:
        """The project that ``project`` names: a namespace, an absolute folder in it, its id, or its folder's name.

        A name that no project has is a project by that name, of which nothing is stored yet.

        Raises:
          InvalidRequest: no project can be called so, or several are.
          StorageError: the projects cannot be listed.
        """
        if NAMESPACE_PATTERN.fullmatch(project):
            namespace = Namespace(project)
            found = await self._listed(lambda known: [each for each in known if each.namespace == namespace])
            return _named(found[0]) if found else NamedProject(namespace, project_id_in(namespace))
        if project.startswith("/"):
            there = await self._project_finder.project_of(project)
            return NamedProject(there.namespace, PurePosixPath(there.project_path).name, there.project_path)
        if not _NAME.fullmatch(project):
            expected = "expected a name, an id, a namespace or an absolute folder"
            raise InvalidRequest([("$.project", expected)])
        own = namespace_of(self._actor_id, project)
        namesakes = await self._listed(lambda known: _called(project, own, known))
        if len(namesakes) > 1:
            ids = ", ".join(each.project_id for each in namesakes)
            raise InvalidRequest([("$.project", "several projects have this name")], hint=f"Name one by its id: {ids}")
        return attrs.evolve(_named(namesakes[0]), name=project) if namesakes else NamedProject(own, project)

    async def _listed(self, choose: Callable[[Iterable[ProjectInfo]], list[ProjectInfo]]) -> list[ProjectInfo]:
        """This user's projects that ``choose`` selects; if there is none, one may have been added since they were
        listed.
        """
        found = choose(await self.projects())
        if not found:
            self._known_until = -1.0
            found = choose(await self.projects())
        return found

    def is_of_user(self, namespace: Namespace) -> bool:
        """Whether it is a project of this user."""
        return namespace.startswith(namespace_of(self._actor_id, "")[:-1])

    async def projects(self) -> tuple[ProjectInfo, ...]:
        """All projects of this user. Raises StorageError."""
        if trio.current_time() >= self._known_until:
            everyones = await self._storage.list_projects()
            self._known = tuple(each for each in everyones if self.is_of_user(each.namespace))
            self._known_until = trio.current_time() + FRESH_SECONDS
        return self._known

    async def names(self) -> dict[Namespace, str]:
        """The display name of each project of this user: its folder's name, or its id."""
        return {each.namespace: _named(each).name for each in await self.projects()}


def _named(project: ProjectInfo) -> NamedProject:
    """By its folder if that is known, so that what is handed in by name keeps the folder known."""
    folder = project.display_name if project.display_name.startswith("/") else None
    return NamedProject(project.namespace, PurePosixPath(project.display_name).name or project.project_id, folder)


def _called(project: str, own: Namespace, known: Iterable[ProjectInfo]) -> list[ProjectInfo]:
    """The project with this id alone if there is one, else those whose folders are called so."""
    found: list[ProjectInfo] = []
    for each in known:
        if each.namespace == own:
            return [each]
        if project in {each.display_name, PurePosixPath(each.display_name).name}:
            found.append(each)
    return found
