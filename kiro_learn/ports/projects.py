"""The port from a folder to its project."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.model.namespace import Project


class ProjectFinder(Protocol):
    """The one way from a folder to a namespace, the same for hooks, MCP, CLI and SDK."""

    async def project_of(self, folder: str) -> Project:
        """The project that ``folder`` is in, whichever of its subfolders or worktrees it is.

        Never fails: a folder that cannot be read is its own root.
        """
        ...

    async def is_there(self, folder: str) -> bool:
        """Whether there is such a folder; True also where we may not look."""
        ...
