"""The port to the times of a project's files."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol


class ProjectFiles(Protocol):
    """Looks at names and times of files, never at what is in them."""

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
