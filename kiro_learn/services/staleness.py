"""Finds memories that cite files which changed since, from time to time and on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial

import attrs
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, Namespace
from kiro_learn.model.record import (
    FileChanges,
    FileState,
    MemoryRecord,
    digests_to_note,
    files_of,
    is_unchecked,
    stale_files,
)
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import ProjectFiles
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.runtime.supervisor import PeriodicJob, catch_errors
from kiro_learn.services.project_names import Asked, ProjectNames

PAGE = 500


@attrs.frozen(kw_only=True)
class StaleDetection:
    """The result of checking a project's files."""

    folder: str | None
    """The folder in which the files were looked up; None: no folder is known, and nothing could be checked."""
    stale: int
    """Records with a file that is gone or changed."""
    marked: int
    """Records counted in ``stale`` that were not marked before."""
    cleared: int
    """Records whose files are again as they were."""
    unchecked: int
    """Records that cite files of which none could be looked at: they may be stale too."""


@attrs.frozen(kw_only=True)
class _Findings:
    """What is to be written for one page of records."""

    stale: int
    marked: tuple[RecordId, ...]
    cleared: tuple[RecordId, ...]
    unchecked: int
    digests: dict[RecordId, dict[str, str]]


@attrs.frozen(eq=False)
class Staleness:
    """Marks stale records; it never hides or forgets any."""

    _storage: StorageBackend
    _writer: StorageActor
    freshness: Freshness
    _projects: ProjectNames
    _clock: ClockAndIds

    async def detect(self, project: Asked) -> StaleDetection:
        """Look at the files of all records of a project now.

        Raises:
          InvalidRequest: a project cannot have this name.
          TooSlowError: the file system does not answer.
          StorageError: the store cannot be read or written.
        """
        return await self.detect_in((await self._projects.resolve(project)).namespace)

    async def detect_in(self, namespace: Namespace, *, most_records: int | None = None) -> StaleDetection:
        """Like ``detect``, for the newest ``most_records`` at most; findings are written page by page."""
        folder = await self.freshness.folder_of(namespace)
        stale = marked = cleared = unchecked = seen = 0
        query = RecordQuery(namespace=namespace, limit=PAGE)
        is_more = True
        while is_more:
            page = await self._storage.list_records(query)
            findings = await self._look_at(folder, page) if folder else _unchecked(page)
            await self._write(findings)
            stale += findings.stale
            marked += len(findings.marked)
            cleared += len(findings.cleared)
            unchecked += findings.unchecked
            seen += len(page)
            is_more = len(page) == PAGE and (most_records is None or seen < most_records)
            if is_more:
                query = attrs.evolve(query, before=(page[-1].created_at, page[-1].record_id))
        return StaleDetection(folder=folder, stale=stale, marked=marked, cleared=cleared, unchecked=unchecked)

    async def _look_at(self, folder: str, records: Sequence[MemoryRecord]) -> _Findings:
        """Compare the files. Digests of unchanged files are noted: later they tell more than a time of change."""
        known = await self._storage.get_file_digests([record.record_id for record in records])
        states = await self.freshness.states(folder, records)
        marked, cleared, digests, stale_count, unchecked = [], [], {}, 0, 0
        for record in records:
            before = known.get(record.record_id, {})
            now_stale = bool(stale_files(record, states, before))
            unchecked += is_unchecked(record, states)
            stale_count += now_stale
            if now_stale and record.stale_at is None:
                marked.append(record.record_id)
            if not now_stale and record.stale_at is not None and not is_unchecked(record, states):
                cleared.append(record.record_id)
            if (after := digests_to_note(record, states, before)) != before:
                digests[record.record_id] = after
        return _Findings(
            stale=stale_count, marked=tuple(marked), cleared=tuple(cleared), unchecked=unchecked, digests=digests
        )

    async def _write(self, findings: _Findings) -> None:
        now = self._clock.utc_now()

        def note(transaction: StorageTransaction) -> None:
            transaction.set_stale(findings.marked, now)
            transaction.set_stale(findings.cleared, None)
            transaction.put_file_digests(findings.digests)

        if findings.marked or findings.cleared or findings.digests:
            await self._writer.write(note)


def _unchecked(records: Sequence[MemoryRecord]) -> _Findings:
    """The findings if no folder is known in which the files could be."""
    count = sum(is_unchecked(record, {}) for record in records)
    return _Findings(stale=0, marked=(), cleared=(), unchecked=count, digests={})


# Checks the files of all projects from time to time, so that stale memories are known without a request.

NAME = "staleness check"

FIRST_AFTER_SECONDS = 600.0
"""The pause after the start, when there is other work."""

INTERVAL_SECONDS = 6 * 3600.0

MOST_RECORDS = 10_000
"""The newest records of a project that one run checks; ``POST /api/stale`` checks all."""


def staleness_check(storage: StorageBackend, staleness: Staleness) -> PeriodicJob:
    """Runs the stale detection for every project, one after the other. A project that fails is logged and skipped."""

    async def check_all() -> None:
        for project in await storage.list_projects():
            await catch_errors(NAME, partial(staleness.detect_in, project.namespace, most_records=MOST_RECORDS))

    return PeriodicJob(NAME, check_all, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=INTERVAL_SECONDS)


# Finds which files that memories cite are gone or were changed since the memories were learned.

FILES_AT_ONCE = 50

FILES_SECONDS = 5.0
"""The longest time for reading so many files; a slower file system is given up on."""


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
    """Finds the stale memories of a project."""

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
        """The present state of the files that ``records`` cite. Many may take long, as long as states keep coming.

        Raises:
          TooSlowError: reading some of the files took too long.
        """
        paths = list(dict.fromkeys(path for record in records for path in files_of(record)))
        states: dict[str, FileState | None] = {}
        for start in range(0, len(paths), FILES_AT_ONCE):
            with trio.fail_after(FILES_SECONDS):
                states |= await self._files.states(folder, paths[start : start + FILES_AT_ONCE])
        return states

    async def folder_of(self, namespace: Namespace) -> str | None:
        """The project's folder, from the newest event that names one; None if none does. Raises StorageError."""
        page = await self._storage.list_events(namespace=namespace, limit=EVENTS_WITH_FOLDER, cursor=None)
        return next((event.source.project_path for event in page.items if event.source.project_path), None)
