"""Finds which files that memories cite are gone or were changed since the memories were learned."""

from __future__ import annotations

from collections.abc import AsyncIterator

import attrs
import trio

from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.file_notes import FileNotes, StaleRecord
from kiro_learn.ports.storage.interface import StorageBackend

PAGE_SECONDS = 5.0
"""For the files of one page of a list, which a person waits for."""

PAGE = 500
EVENTS_WITH_FOLDER = 200
"""The newest ones, among which the project's folder is looked for."""


@attrs.frozen
class StaleRecords:
    """The stale memories of one project, newest first."""

    folder: str | None
    """The folder in which the files were looked up; None: no event names one."""
    items: tuple[StaleRecord, ...]


class Freshness:
    """Goes through all memories of a project."""

    def __init__(self, storage: StorageBackend, files: FileNotes) -> None:
        self._storage = storage
        self._files = files

    async def stale(self, namespace: Namespace) -> StaleRecords:
        """All memories of a project with a file that is gone or was changed since.

        Raises:
          TooSlowError: the file system does not answer.
          StorageError: the store cannot be read.
        """
        folder = await self.folder_of(namespace)
        if folder is None:
            return StaleRecords(None, ())
        return StaleRecords(folder, tuple([stale async for stale in self._stale_in(namespace, folder)]))

    async def _stale_in(self, namespace: Namespace, folder: str) -> AsyncIterator[StaleRecord]:
        offset = 0
        while True:
            page = await self._storage.list_memory_records(namespace=namespace, limit=PAGE, offset=offset)
            with trio.fail_after(PAGE_SECONDS):
                found = await self._files.stale(folder, page.items)
            for stale in found:
                yield stale
            offset += PAGE
            if offset >= page.total:
                return

    async def folder_of(self, namespace: Namespace) -> str | None:
        """The project's folder, as the newest event that names one does; None if none does. Raises StorageError."""
        page = await self._storage.list_events(namespace=namespace, limit=EVENTS_WITH_FOLDER, cursor=None)
        return next((event.source.project_path for event in page.items if event.source.project_path), None)
