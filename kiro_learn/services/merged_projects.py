"""What is known of merged and renamed projects while the daemon runs."""

from __future__ import annotations

import attrs

from kiro_learn.model.namespace import Namespace, Project, project_id_in
from kiro_learn.ports.home import ProjectFinder


class MergedProjects:
    """The project that each merged one is part of now, and names that people gave; in memory, so that no hook waits."""

    def __init__(self) -> None:
        self._target_of: dict[Namespace, Namespace] = {}
        self._names: dict[Namespace, str] = {}

    def in_use(self, namespace: Namespace) -> Namespace:
        """Where what comes to ``namespace`` is kept."""
        return self._target_of.get(namespace, namespace)

    def name_of(self, namespace: Namespace) -> str | None:
        """What a person called a project."""
        return self._names.get(namespace)

    def rename(self, namespace: Namespace, name: str) -> None:
        """A person calls it so from now on."""
        self._names[namespace] = name

    def unname(self, namespace: Namespace) -> None:
        """It is called by its folder from now on."""
        self._names.pop(namespace, None)

    def note(self, source: Namespace, target: Namespace) -> None:
        """``source`` is part of ``target`` from now on, with what was merged into it before."""
        for earlier, known in self._target_of.items():
            if known == source:
                self._target_of[earlier] = target
        self._target_of[source] = target


@attrs.frozen
class MergedProjectFinder:
    """``ProjectFinder`` that knows what was merged."""

    _finder: ProjectFinder
    _merged: MergedProjects

    async def project_of(self, folder: str) -> Project:
        """The project that keeps what happens in ``folder``."""
        found = await self._finder.project_of(folder)
        namespace = self._merged.in_use(found.namespace)
        return attrs.evolve(found, namespace=namespace, project_id=project_id_in(namespace))

    async def is_there(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return await self._finder.is_there(folder)
