"""The ports from a folder to its project, and to a project's files: their times, digests of their contents, and the
texts of those that say how it is built.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from kiro_learn.model.file_state import FileState
from kiro_learn.model.graph import Preference
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.model.profile import ProfileFact, ProjectProfile, WantedFiles


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


class ProjectFiles(Protocol):
    """Looks at files in a project's folder; what is in them it tells only of those that say how a project is built."""

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        """When each file was written last, in UTC; None for one that is gone.

        Left out is what cannot be told: what is not inside of ``folder``, is reached through a symbolic link, is no
        regular file or may not be looked at; and everything if the folder itself is not there. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          folder: absolute.
          paths: relative to it, or absolute.
        """
        ...

    async def states(self, folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
        """When each file was written last, and the digest of its content; None for one that is gone.

        What is left out, and how it is cancelled, is as with ``modified_ats``. This reads files, so it has a thread of
        its own: one that hangs holds up no prompt. A caller waits for it; set a deadline.
        """
        ...

    async def manifests(self, folder: str, wanted: WantedFiles) -> dict[str, str]:
        """The texts of those of the ``wanted`` files that are there, by path; empty where a file is only noticed, or is
        too large to be read. What is left out, and how it is cancelled, is as with ``modified_ats``.
        """
        ...


class RuleTexts(Protocol):
    """Reads the rule files that agents load, few and small ones."""

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        """The texts of the files in ``folder``, or in the user's folder if that is None, by their path in it.

        Left out is what is not there, is no regular file, lies outside of the folder behind a link, or is beyond the
        bounds; of a long file, the end. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          patterns: paths in the folder, whose last part may have a ``*``.
        """
        ...


class ProfilesOfProjects(Protocol):
    """Says what the files of projects say of them."""

    async def told(self, namespace: Namespace, folder: str | None) -> ProjectProfile:
        """What agents are told of the project that lies in ``folder``; nothing where that is not known. Never fails."""
        ...

    async def wishes(self, namespace: Namespace) -> list[Preference]:
        """What people stated that they want in that project, the newest first. Never fails."""
        ...

    async def past(self, namespace: Namespace, folder: str) -> list[ProfileFact]:
        """What people stated of that project and ended, the newest end first. Never fails."""
        ...
