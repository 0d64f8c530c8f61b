"""One project's memories, by their ids: read, corrected and forgotten, and never those of another project.

An agent works for one project; an id that it has from elsewhere must neither show nor change what another one keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.errors import UnknownRecord
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.services.edit import Edit
from kiro_learn.services.forget import Forget, Forgotten
from kiro_learn.services.project_names import Asked, ProjectNames


@attrs.frozen
class RecordsRead:
    """The records that were asked for, and the ids that are unknown."""

    records: tuple[MemoryRecord, ...]
    """In the order of the ids."""
    unknown: tuple[RecordId, ...]
    """Ids that no memory of the project has."""


class ProjectRecords:
    """Every method may raise StorageError, and InvalidRequest for a project's name."""

    def __init__(self, storage: RecordReads, projects: ProjectNames, edit: Edit, forget: Forget) -> None:
        self._storage = storage
        self._projects = projects
        self._edit = edit
        self._forget = forget

    async def read(self, project: Asked, record_ids: Sequence[RecordId]) -> RecordsRead:
        """Each once."""
        wanted = tuple(dict.fromkeys(record_ids))
        namespace = (await self._projects.resolve(project)).namespace
        found = {
            record.record_id: record
            for record in await self._storage.get_memory_records(wanted)
            if record.namespace == namespace
        }
        records = tuple(found[record_id] for record_id in wanted if record_id in found)
        return RecordsRead(records, tuple(record_id for record_id in wanted if record_id not in found))

    async def edit(self, project: Asked, record_id: RecordId, correction: Correction) -> MemoryRecord:
        """As ``Edit.edit``. Raises UnknownRecord: the project has none of this id."""
        return await self._edit.edit(await self.one(project, record_id), correction)

    async def forget(self, project: Asked, record_id: RecordId, *, with_same_words: bool = False) -> Forgotten:
        """As ``Forget.forget``. Raises UnknownRecord: the project has none of this id."""
        record = await self.one(project, record_id)
        return await self._forget.forget(record.record_id, with_same_words=with_same_words)

    async def one(self, project: Asked, record_id: RecordId) -> MemoryRecord:
        """Raises UnknownRecord: the project has none of this id."""
        found = await self.read(project, [record_id])
        if not found.records:
            raise UnknownRecord(record_id)
        return found.records[0]
