"""The port to a repository's branches, as its own files have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol


class Branches(Protocol):
    """Reads which branch is the default one, and which are merged into it. It runs no program, and writes nothing."""

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        """Those of ``names`` that are branches of the repository around ``folder`` today, are not the default one, and
        are not known to be merged into it; none where its files do not say which one that is.

        Cancellation: a file system that does not answer keeps a thread, not the caller.
        """
        ...

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        """Those of ``branches`` that the default branch holds, as far as files tell; never one that is not merged.

        Cancellation: as of ``apart``.

        Args:
          branches: since when there is work on each, in UTC.
        """
        ...
