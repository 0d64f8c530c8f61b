"""Marks records whose cited files changed since, and removes the mark once the files are as they were."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.file_state import digests_to_note, is_unchecked, stale_files
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.project_names import Asked, ProjectNames

PAGE = 500


@attrs.frozen(kw_only=True)
class StaleDetection:
    """The result of checking a project's files."""

    folder: str | None
    """The folder in which the files were looked up; None: none is known, and nothing could be checked."""
    stale: int
    """Records with a file that is gone or changed."""
    marked: int
    """Of these, those that were not marked before."""
    cleared: int
    """Records whose files are as they were again."""
    unchecked: int
    """Records that cite files, none of which could be looked at: they may be stale too."""


@attrs.frozen(kw_only=True)
class _Findings:
    """What is to be written about one page of records."""

    stale: int
    marked: tuple[RecordId, ...]
    cleared: tuple[RecordId, ...]
    unchecked: int
    digests: dict[RecordId, dict[str, str]]


class Staleness:
    """Marks stale records; it never hides or forgets any."""

    def __init__(
        self,
        storage: StorageBackend,
        writer: StorageActor,
        freshness: Freshness,
        *,
        projects: ProjectNames,
        clock: ClockAndIds,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._freshness = freshness
        self._projects = projects
        self._clock = clock

    async def detect(self, project: Asked) -> StaleDetection:
        """Look at the files of all records of a project now.

        Raises:
          InvalidRequest: no project can be called so.
          TooSlowError: the file system does not answer.
          StorageError: the store cannot be read or written.
        """
        return await self.detect_in((await self._projects.resolve(project)).namespace)

    async def detect_in(self, namespace: Namespace, *, most_records: int | None = None) -> StaleDetection:
        """As ``detect``, of the newest ``most_records`` at most; what is found is written page by page."""
        folder = await self._freshness.folder_of(namespace)
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
        """What is known of a record's files is noted while they are as they were: later, it tells more than a time."""
        known = await self._storage.get_file_digests([record.record_id for record in records])
        states = await self._freshness.states(folder, records)
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
    """Where no folder is known, in which their files could be."""
    count = sum(is_unchecked(record, {}) for record in records)
    return _Findings(stale=0, marked=(), cleared=(), unchecked=count, digests={})
