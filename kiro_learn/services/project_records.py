"""One project's memories, by their ids or unique ends of them: read, corrected and forgotten, and never those of
another project.

An agent works for one project; an id that it has from elsewhere must neither show nor change what another one keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.errors import InvalidRequest, UnknownRecord
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import LEAST_ENDING, RecordId, ending_of, is_record_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.services.edit import Edit
from kiro_learn.services.forget import Forget, Forgotten
from kiro_learn.services.project_names import Asked, ProjectNames

MOST_NAMED = 5
"""Ids that an end of several is answered with."""


@attrs.frozen
class RecordsRead:
    """The records that were asked for, and the ids that are unknown."""

    records: tuple[MemoryRecord, ...]
    """In the order of the ids, each once."""
    unknown: tuple[RecordId, ...]
    """Ids that no memory of the project has."""


class ProjectRecords:
    """Every method may raise StorageError, and InvalidRequest for a project's name and the end of an id.

    An id may be named by its end, of at least 4 characters, if only one of the project ends so.
    """

    def __init__(self, storage: RecordReads, projects: ProjectNames, edit: Edit, forget: Forget) -> None:
        self._storage = storage
        self._projects = projects
        self._edit = edit
        self._forget = forget

    async def read(self, project: Asked, record_ids: Sequence[RecordId]) -> RecordsRead:
        """The records of these ids.

        Raises:
          InvalidRequest: an end of an id is too short, or several ids end so.
        """
        namespace = (await self._projects.resolve(project)).namespace
        wanted = {asked: await self._meant(namespace, asked) for asked in record_ids}
        found = {
            record.record_id: record
            for record in await self._storage.get_memory_records(list(wanted.values()))
            if record.namespace == namespace
        }
        records = tuple(found[each] for each in dict.fromkeys(wanted.values()) if each in found)
        return RecordsRead(records, tuple(asked for asked, each in wanted.items() if each not in found))

    async def _meant(self, namespace: Namespace, asked: RecordId) -> RecordId:
        """The only id of the project that ends as ``asked``; ``asked`` itself if it is whole, or none does."""
        if is_record_id(asked):
            return asked
        ending = ending_of(asked)
        if len(ending) < LEAST_ENDING:
            raise InvalidRequest([("$.id", f"expected an id, or at least {LEAST_ENDING} characters of its end")])
        fitting = await self._storage.find_record_ids(namespace, ending, MOST_NAMED)
        if len(fitting) > 1:
            raise InvalidRequest(
                [("$.id", f"{asked} is the end of several ids")], hint=f"Name one: {', '.join(fitting)}"
            )
        return fitting[0] if fitting else asked

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
