"""Finds which files that memories cite are gone or were changed since the memories were learned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs
import trio

from kiro_learn.model.file_state import FileChanges, FileState, files_of, stale_files
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.home import ProjectFiles
from kiro_learn.ports.storage.interface import StorageBackend

FILES_AT_ONCE = 50

FILES_SECONDS = 5.0
"""Time limit of reading so many files; a slower file system is given up on."""

PAGE = 500
EVENTS_WITH_FOLDER = 200
"""The newest ones, among which the project's folder is looked for."""


@attrs.frozen
class StaleRecord:
    """A memory, and what became of its files."""

    record: MemoryRecord
    changes: FileChanges


@attrs.frozen
class StaleRecords:
    """The stale memories of one project, newest first."""

    folder: str | None
    """The folder in which the files were looked up; None: no event names one."""
    items: tuple[StaleRecord, ...]


class Freshness:
    """Goes through all memories of a project."""

    def __init__(self, storage: StorageBackend, files: ProjectFiles) -> None:
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
            known = await self._storage.get_file_digests([record.record_id for record in page.items])
            states = await self.states(folder, page.items)
            for record in page.items:
                if changes := stale_files(record, states, known.get(record.record_id, {})):
                    yield StaleRecord(record, changes)
            offset += PAGE
            if offset >= page.total:
                return

    async def states(self, folder: str, records: Sequence[MemoryRecord]) -> dict[str, FileState | None]:
        """How the files that ``records`` cite are now. Many take their time, as long as they come.

        Raises:
          TooSlowError: some of them took too long.
        """
        paths = list(dict.fromkeys(path for record in records for path in files_of(record)))
        states: dict[str, FileState | None] = {}
        for start in range(0, len(paths), FILES_AT_ONCE):
            with trio.fail_after(FILES_SECONDS):
                states |= await self._files.states(folder, paths[start : start + FILES_AT_ONCE])
        return states

    async def folder_of(self, namespace: Namespace) -> str | None:
        """The project's folder, as the newest event that names one does; None if none does. Raises StorageError."""
        page = await self._storage.list_events(namespace=namespace, limit=EVENTS_WITH_FOLDER, cursor=None)
        return next((event.source.project_path for event in page.items if event.source.project_path), None)
