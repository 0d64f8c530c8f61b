"""One project's memories, and memories by hand: read, corrected, undone, forgotten, stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DuplicateRecord, InvalidRequest, UnknownRecord
from kiro_learn.learning.aftermath import holding_words_of, passages_of
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Correction, Replacement, ReplacementReason
from kiro_learn.model.ids import LEAST_ENDING, RECORD_PREFIX, RecordId, ending_of, is_record_id
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.model.record import EDITED, MemoryRecord, Origin
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.services.project_names import Asked, ProjectNames


async def one_record(storage: RecordReads, record_id: RecordId) -> MemoryRecord:
    """The record with this id, of any project. Raises UnknownRecord, StorageError."""
    found = await storage.get_memory_records([record_id])
    if not found:
        raise UnknownRecord(record_id)
    return found[0]


# One project's memories, by their ids or by unique ends of ids: read, corrected and forgotten.
#
# An agent works for one project. An id that it has from elsewhere must neither show nor change the memories of another
# project.

MOST_NAMED = 5
"""The most ids in the answer to an end of an id that several memories have."""


@attrs.frozen
class RecordsRead:
    """The records that were asked for, and the ids that are unknown."""

    records: tuple[MemoryRecord, ...]
    """The records in the order of the ids, each once."""
    unknown: tuple[RecordId, ...]
    """The ids that no memory of the project has."""


class ProjectRecords:
    """Reads and changes one project's memories.

    Every method may raise StorageError, and InvalidRequest for a project's name or the end of an id. An id may be given
    by its end, of at least 4 characters, if only one id in the project ends so.
    """

    def __init__(self, storage: RecordReads, projects: ProjectNames, edit: Edit, forget: Forget) -> None:
        self._storage = storage
        self._projects = projects
        self._edit = edit
        self._forget = forget

    async def read(self, project: Asked, record_ids: Sequence[RecordId]) -> RecordsRead:
        """The records with these ids.

        Raises:
          InvalidRequest: an end of an id is too short, or several ids have it.
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
        """The only id of the project that ends with ``asked``; ``asked`` itself if it is whole, or no id ends so."""
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
        """See ``Edit.edit``. Raises UnknownRecord: the project has no record with this id."""
        return await self._edit.edit(await self.one(project, record_id), correction)

    async def forget(self, project: Asked, record_id: RecordId, *, with_same_words: bool = False) -> Forgotten:
        """See ``Forget.forget``. Raises UnknownRecord: the project has no record with this id."""
        record = await self.one(project, record_id)
        return await self._forget.forget(record.record_id, with_same_words=with_same_words)

    async def one(self, project: Asked, record_id: RecordId) -> MemoryRecord:
        """The record with this id. Raises UnknownRecord, which names the replacement if the record was replaced."""
        found = await self.read(project, [record_id])
        if not found.records:
            namespace = (await self._projects.resolve(project)).namespace
            ending = ending_of(record_id.removeprefix(RECORD_PREFIX))
            successors = await self._storage.find_successors(namespace, ending, MOST_NAMED)
            raise UnknownRecord(record_id, successors=successors)
        return found.records[0]


# Corrects a memory: the corrected one takes its place, and the old one is kept as replaced.


class Edit:
    """Corrects memories, with the same redaction, index and embedding as learned ones."""

    def __init__(self, writer: StorageActor, clock: ClockAndIds) -> None:
        self._writer = writer
        self._clock = clock

    async def edit(self, record: MemoryRecord, correction: Correction) -> MemoryRecord:
        """Put a corrected ``record`` in its place, with a new id, and return it.

        The new record can be found by words at once, and by meaning once the backfiller has embedded it. Undoing it
        (``History.undo``) puts the old one back.

        Raises:
          InvalidRequest: the memory would say the same as before.
          UnknownRecord: the record was replaced or forgotten since it was read; nothing changed.
          StorageError: the correction could not be stored; nothing changed.
        """
        corrected = scrub_record(correction.of(record))
        if corrected == record:
            raise InvalidRequest([("$", "expected something that differs from what the memory says")])
        return await self._replace(corrected, (record,))

    async def keep(self, record: MemoryRecord, ended: MemoryRecord) -> MemoryRecord:
        """Let ``record`` take the place of both, with a new id, and return it. Undoing it puts both back.

        Raises:
          UnknownRecord: one of them was replaced or forgotten since it was read; nothing changed.
          StorageError: the replacement could not be stored; nothing changed.
        """
        return await self._replace(record, (record, ended))

    async def _replace(self, said: MemoryRecord, replaced: tuple[MemoryRecord, ...]) -> MemoryRecord:
        ulid = self._clock.new_ulid()
        new = unchecked_evolve(said, record_id=RecordId(RECORD_PREFIX + ulid), strategy=EDITED, stale_at=None)
        replacement = Replacement(
            replacement_id=self._clock.new_ulid(),
            namespace=said.namespace,
            reason=ReplacementReason.MERGED,
            replaced_at=self._clock.utc_now(),
            replacing=(new.record_id,),
            replaced=replaced,
        )

        def put(transaction: StorageTransaction) -> None:
            transaction.put_memory_record(new)
            transaction.replace_memory_records(replacement)

        await self._writer.write(put)
        return new


# What a person may undo: the replacement that made a memory, and its pin.


class History:
    """Shows which records a record replaced, pins records, and undoes a replacement or a pin."""

    def __init__(self, storage: StorageBackend, writer: StorageActor, clock: ClockAndIds) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock

    async def of(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record, newest first; empty if it replaced nothing.

        Raises:
          UnknownRecord: there is no record with this id.
          StorageError: the replacements could not be read.
        """
        replacements = await self._storage.list_replacements(record_id)
        # Read last: a record that is replaced between the two reads raises UnknownRecord, and does not seem without
        # history.
        if not replacements:
            await one_record(self._storage, record_id)
        return replacements

    async def pinned_at(self, record_id: RecordId) -> datetime | None:
        """When the record was pinned; None if it is not pinned, or cannot be read.

        Raises:
          StorageError: the store could not be read.
        """
        found = await self._storage.get_memory_records([record_id])
        return found[0].pinned_at if found else None

    async def undo(self, record_id: RecordId) -> Replacement | None:
        """Undo the replacement that made a record, and return it: new records are forgotten, old ones come back.

        None: the record was pinned after the replacement, so only the pin was removed.

        Raises:
          UnknownRecord: there is no record with this id.
          NothingToUndo: the record replaced nothing, and is not pinned.
          ReplacedSince: a record of the same replacement was replaced later; that is to be undone first.
          StorageError: the replacement could not be undone; nothing changed.
        """
        if await self._is_pinned_last(record_id):
            await self.unpin(record_id)
            return None
        return await self._writer.write(lambda transaction: transaction.undo_replacement(record_id))

    async def pin(self, record_id: RecordId) -> MemoryRecord:
        """Pin the record, and return it; if it is pinned already, its time stays.

        Raises:
          UnknownRecord: there is no record with this id.
          StorageError: the record could not be pinned; nothing changed.
        """
        record = await one_record(self._storage, record_id)
        return record if record.pinned_at else await self._set_pinned(record, self._clock.utc_now())

    async def unpin(self, record_id: RecordId) -> MemoryRecord:
        """Remove the pin of the record, and return the record.

        Raises:
          UnknownRecord: there is no record with this id.
          StorageError: the pin could not be removed; nothing changed.
        """
        record = await one_record(self._storage, record_id)
        return await self._set_pinned(record, None) if record.pinned_at else record

    async def _set_pinned(self, record: MemoryRecord, at: datetime | None) -> MemoryRecord:
        if not await self._writer.write(lambda transaction: transaction.set_pinned([record.record_id], at)):
            # Since the record was read, its pin was changed by somebody else, or the record was removed.
            return await one_record(self._storage, record.record_id)
        return unchecked_evolve(record, pinned_at=at)

    async def _is_pinned_last(self, record_id: RecordId) -> bool:
        pinned_at = await self.pinned_at(record_id)
        if pinned_at is None:
            return False
        came = (each for each in await self._storage.list_replacements(record_id) if record_id in each.replacing)
        return all(each.replaced_at <= pinned_at for each in came)


# Forgets a memory everywhere at once: row, index entry, vector, and the index in memory.

MOST_PASSAGES = 100
"""The most sentences of a memory that are searched for in others: of a longer one, the first and the last."""
MOST_ALIKE = 100
"""The most memories that are compared for each sentence: those that share the most words with it."""


@attrs.frozen
class Forgotten:
    """The records that were forgotten, and those that still hold the same words."""

    record_ids: tuple[RecordId, ...]
    """The ids of the forgotten records, the named one first."""
    same_words: tuple[MemoryRecord, ...]


class Forget:
    """Deletes records everywhere; the events that they were learned from stay."""

    def __init__(self, writer: StorageActor, storage: StorageBackend) -> None:
        self._writer = writer
        self._storage = storage

    async def same_words(self, record_id: RecordId) -> tuple[MemoryRecord, ...]:
        """The memories of its project that hold the words of this one: first those of its events, then the newest.

        Empty if the memory does not exist or cannot be read.
        """
        found = await self._storage.get_memory_records([record_id])
        if not found:
            return ()
        [record] = found
        passages = passages_of(record)
        if len(passages) > MOST_PASSAGES:
            passages = (*passages[: MOST_PASSAGES // 2], *passages[-MOST_PASSAGES // 2 :])
        alike: dict[RecordId, None] = {}
        for passage in passages:
            ranking = await self._storage.rank_by_words(SearchParams(record.namespace, passage, limit=MOST_ALIKE))
            alike.update(dict.fromkeys(hit.record_id for hit in ranking.hits))
        return tuple(holding_words_of(record, await self._storage.get_memory_records(list(alike))))

    async def forget(self, record_id: RecordId, *, with_same_words: bool = False) -> Forgotten:
        """Forget one record, with all that it replaced; nothing in the store has its text any more.

        Args:
          with_same_words: also forget the memories that hold its words, in the same commit.

        Cancellation: the record is forgotten or it is not; copies of its text may be left until the next one is
          forgotten.

        Raises:
          UnknownRecord: there is no record with this id.
          StorageError: the record could not be removed.
        """
        same = await self.same_words(record_id)
        gone = (record_id, *(each.record_id for each in same)) if with_same_words else (record_id,)
        if not await self._writer.write(lambda transaction: transaction.delete_memory_record(gone)):
            raise UnknownRecord(record_id)
        await self._storage.erase_forgotten()
        return Forgotten(gone, () if with_same_words else same)


# Stores records that were not learned here: from an agent's tool, a person or an import.

CHUNK_COUNT = 100
"""Records in one commit; few, so that an import does not hold up the events of an agent at work."""


@attrs.frozen
class Imported:
    """How many records of an import were stored."""

    imported: int
    skipped: int
    """Records of an import whose id was known already, or that were forgotten here."""


class Remember:
    """Stores given records, with the same redaction, index and embedding as learned ones."""

    def __init__(self, writer: StorageActor) -> None:
        self._writer = writer

    async def put(self, record: MemoryRecord) -> None:
        """Store one record.

        Raises:
          DuplicateRecord: the id is known.
          StorageError: the record could not be stored.
        """
        clean = scrub_record(record)
        await self._writer.write(lambda transaction: transaction.put_memory_record(clean))

    async def put_all(self, records: Sequence[MemoryRecord], project: Project | None = None) -> Imported:
        """Store the ``records`` with an unknown id, except imported memories that were forgotten here in any project.

        A chunk is stored as a whole or not at all.

        Args:
          project: whose folder is noted if it has one of the records, since no event may have named it.

        Raises:
          StorageError: a chunk could not be stored; the chunks before it were.
        """
        imported = 0
        for start in range(0, len(records), CHUNK_COUNT):
            chunk = [scrub_record(record) for record in records[start : start + CHUNK_COUNT]]
            imported += await self._writer.write(partial(_put_new, records=chunk, project=project))
        return Imported(imported, len(records) - imported)


def _put_new(transaction: StorageTransaction, records: Sequence[MemoryRecord], project: Project | None) -> int:
    put = 0
    for record in records:
        if record.origin is Origin.IMPORT and transaction.has_forgotten(None, record.source_event_ids):
            continue
        if project is not None and record.namespace == project.namespace:
            transaction.note_folder(project.namespace, project.project_path)
        try:
            transaction.put_memory_record(record)
        except DuplicateRecord:
            continue
        put += 1
    return put
