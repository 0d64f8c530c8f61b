"""Notes on records that files which they cite changed since, and takes the note back when that is no longer so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import RecordQuery
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.project_names import ProjectNames

PAGE = 500


@attrs.frozen(kw_only=True)
class StaleDetection:
    """What a look at a project's files brought."""

    folder: str | None
    """In which the files were looked for; None: none is known, and nothing was looked at."""
    stale: int
    """Records with a file that is gone or newer."""
    marked: int
    """Of these, those that were not known before."""
    cleared: int
    """Whose files are as they were again."""


class Staleness:
    """Marks; it never hides or forgets anything."""

    def __init__(
        self,
        storage: StorageBackend,
        writer: StorageActor,
        freshness: Freshness,
        projects: ProjectNames,
        clock: ClockAndIds,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._freshness = freshness
        self._projects = projects
        self._clock = clock

    async def detect(self, project: str) -> StaleDetection:
        """Look at the files of all records of a project now.

        Raises:
          InvalidRequest: no project can be called so.
          TooSlowError: the file system does not answer.
          StorageError: the store cannot be read or written.
        """
        namespace = (await self._projects.resolve(project)).namespace
        found = await self._freshness.stale(namespace)
        if found.folder is None:
            return StaleDetection(folder=None, stale=0, marked=0, cleared=0)
        stale = {each.record.record_id for each in found.items}
        new = [each.record.record_id for each in found.items if each.record.stale_at is None]
        fresh = [
            record.record_id
            async for record in self._records(namespace)
            if record.stale_at is not None and record.record_id not in stale
        ]
        if new or fresh:
            await self._note(new, fresh)
        return StaleDetection(folder=found.folder, stale=len(stale), marked=len(new), cleared=len(fresh))

    async def _note(self, new: Sequence[RecordId], fresh: Sequence[RecordId]) -> None:
        now = self._clock.utc_now()
        await self._writer.write(lambda transaction: transaction.set_stale(new, now))
        await self._writer.write(lambda transaction: transaction.set_stale(fresh, None))

    async def _records(self, namespace: Namespace) -> AsyncIterator[MemoryRecord]:
        query = RecordQuery(namespace=namespace, limit=PAGE)
        while True:
            page = await self._storage.list_records(query)
            for record in page:
                yield record
            if len(page) < PAGE:
                return
            query = attrs.evolve(query, before=(page[-1].created_at, page[-1].record_id))
