"""Names that people give their projects, and merging one project into another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kiro_learn.model.namespace import Namespace


class ProjectReads(Protocol):
    """Reads of merged projects."""

    async def list_merged(self) -> Mapping[Namespace, Namespace]:
        """The project that each merged one is part of now."""
        ...

    async def list_project_names(self) -> Mapping[Namespace, str]:
        """The names that people gave."""
        ...


class ProjectWrites(Protocol):
    """Renaming and merging."""

    def rename_project(self, namespace: Namespace, name: str | None) -> None:
        """Let lists show the project by ``name``; None: by its folder."""
        ...

    def begin_merge(self, source: Namespace, target: Namespace) -> None:
        """From now on whatever comes to ``source`` is kept in ``target``, and no learner commits to ``source``.

        Raises:
          InvalidRequest: they are one project already, or are searched by vectors of different models.
        """
        ...

    def merge_some(self, source: Namespace, *, limit: int) -> int:
        """Move ``limit`` rows, with what belongs to them; returns how many. 0: nothing is left in ``source``."""
        ...
