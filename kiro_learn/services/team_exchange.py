"""Sends a project's memories to a team, and takes in those that others share.

Work that grows with the number of memories (digests, JSON, redaction) is done in threads, so that no prompt waits.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import structlog

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DuplicateRecord, InvalidRequest
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, RecordFilter
from kiro_learn.model.sharing import SHARED_STRATEGY, SharedKey, SharedProject, TeamView
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import HistoryReads, Place, RecordQuery
from kiro_learn.ports.team import TeamMemories
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.project_names import NamedProject
from kiro_learn.wire.exported import read_shared, shared_record_id, write_shared

log = structlog.get_logger()

AT_ONCE = 100
"""Records in one read, and in one commit."""
NO_KIND = ("",)
"""A kind that no record has; a filter without kinds would find all records."""


class Outgoing:
    """Brings what this home shares up to date."""

    def __init__(self, storage: StorageBackend, *, user_home: str, offload: Offload) -> None:
        self._storage = storage
        self._user_home = user_home
        self._offload = offload

    async def share(
        self, team: TeamMemories, project: SharedProject, place: NamedProject, view: TeamView, *, is_admitted: bool
    ) -> None:
        """Share the new memories of ``project``, if the user is admitted to it, and take back those no longer shared.

        A withheld memory stays withheld, and so is a memory that replaced one.
        """
        there = view.own(project.name)
        wanted: set[str] = set()
        async for page in _pages(self._storage, place.namespace, RecordFilter(types=project.kinds or NO_KIND)):
            own = [record for record in page if record.strategy != SHARED_STRATEGY]
            wanted |= {record.record_id for record in own}
            if is_admitted:
                new = [record for record in own if record.record_id not in there]
                await self._share_new(team, project, place, new, view.withheld)
        gone = [RecordId(each) for each, head in there.items() if each not in wanted and not head.is_withheld]
        if gone:
            await team.take_back(project.name, gone)

    async def _share_new(  # what to share, and where
        self,
        team: TeamMemories,
        project: SharedProject,
        place: NamedProject,
        records: Sequence[MemoryRecord],
        withheld: Collection[str],
    ) -> None:
        shared: list[MemoryRecord] = []
        for record in records:
            if withheld and await self._is_withheld(record, withheld):
                await team.withhold(project.name, record.record_id)
            else:
                shared.append(record)
        texts = await self._offload(partial(self._texts, shared, place))
        if texts:
            await team.share(project.name, texts)

    def _texts(self, records: Sequence[MemoryRecord], place: NamedProject) -> dict[RecordId, str]:
        """The texts to share, without those that are too long, redacted again: a record may be older than a rule."""
        told = partial(write_shared, folder=place.folder, user_home=self._user_home)
        texts = {each.record_id: told(scrub_record(each)) for each in records}
        return {record_id: text for record_id, text in texts.items() if text is not None}

    async def _is_withheld(self, record: MemoryRecord, withheld: Collection[str]) -> bool:
        """Whether the record, or one that it replaced, is withheld."""
        return not {record.record_id, *await replaced_ids(self._storage, record.record_id)}.isdisjoint(withheld)

    async def take_back_all(self, team: TeamMemories, view: TeamView, but: Collection[str]) -> None:
        """Take back what this home shared of projects not in ``but``; withheld memories stay withheld."""
        for name in sorted({head.key.project for head in view.heads}.difference(but)):
            if shared := [RecordId(each) for each, head in view.own(name).items() if not head.is_withheld]:
                await team.take_back(name, shared)


class Incoming:
    """Keeps what others share as records of its project here, each with the person who shared it."""

    def __init__(
        self, storage: StorageBackend, writer: StorageActor, clock: ClockAndIds, *, actor_id: str, offload: Offload
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._actor_id = actor_id
        self._offload = offload
        self._read: dict[SharedKey, bool] = {}
        """The keys that were read since the start, and whether each was a memory."""

    async def keep(self, team: TeamMemories, project: SharedProject, place: NamedProject, view: TeamView) -> None:
        """Store new memories of others, except those that the user forgot or corrected here."""
        new = await self._offload(partial(self._unread, view, project.name))
        for record in await self._storage.get_memory_records(list(new)):
            key = new.pop(record.record_id)
            if record.namespace == place.namespace:  # else it is removed there first
                self._read[key] = True
        keys = list(new.values())
        for start in range(0, len(keys), AT_ONCE):
            texts = await team.read(keys[start : start + AT_ONCE])
            records = await self._offload(partial(self._records, texts, view, place))
            kept = [record for record in records.values() if record is not None]
            await self._writer.write(partial(_put_shared, shared=kept))
            self._read |= {key: record is not None for key, record in records.items()}

    async def let_go(self, view: TeamView, places: Mapping[str, Namespace | None]) -> None:
        """Remove what nobody shares any more in the projects ``places``, and what is kept in another project.

        Args:
          places: the namespace of each project by name; None if it was not found: its shared memories stay where they
            are.
        """
        wanted = await self._offload(partial(_wanted, view, places))
        moved: set[RecordId] = set()
        async for page in _pages(self._storage, None, RecordFilter(strategy=SHARED_STRATEGY)):
            gone = [record for record in page if not _stays(record, wanted)]
            if gone:
                moved |= {record.record_id for record in gone}
                await self._writer.write(partial(_withdraw, records=gone))
                await self._storage.erase_forgotten()
                log.info("sharing.withdrawn", record_count=len(gone))
        self._read = await self._offload(partial(self._still_read, wanted.keys() - moved))

    def counts(self, view: TeamView, project: str) -> tuple[Counter[str], int]:
        """How many memories each person shares, and how many of all cannot be read."""
        keys = view.others(project)
        by_person = Counter(self._person(key, view) for key in keys if self._read.get(key))
        return by_person, sum(not self._read.get(key, True) for key in keys)

    def _unread(self, view: TeamView, project: str) -> dict[RecordId, SharedKey]:
        return {shared_record_id(key): key for key in view.others(project) if key not in self._read}

    def _still_read(self, kept: AbstractSet[RecordId]) -> dict[SharedKey, bool]:
        return {key: is_memory for key, is_memory in self._read.items() if shared_record_id(key) in kept}

    def _records(
        self, texts: Mapping[SharedKey, str], view: TeamView, place: NamedProject
    ) -> dict[SharedKey, MemoryRecord | None]:
        return {key: self._record(key, text, view, place) for key, text in texts.items()}

    def _record(self, key: SharedKey, text: str, view: TeamView, place: NamedProject) -> MemoryRecord | None:
        """The record of a shared memory; None: the text is no memory."""
        now, person = self._clock.utc_now(), self._person(key, view)
        shared_by = None if person == self._actor_id else person
        try:
            return scrub_record(read_shared(key, text, place.namespace, shared_by=shared_by, now=now))
        except InvalidRequest:
            return None

    def _person(self, key: SharedKey, view: TeamView) -> str:
        """The user, for memories from another home of theirs; else the role, which is never the user's id."""
        if key.owner == view.role:
            return self._actor_id
        return f"{key.owner}@team" if key.owner == self._actor_id else key.owner


async def replaced_ids(storage: HistoryReads, record_id: RecordId) -> set[RecordId]:
    """The ids of all records that a record replaced, directly or not."""
    replacements = await storage.list_replacements(record_id)
    return {replaced.record_id for each in replacements for replaced in each.replaced}


def _wanted(view: TeamView, places: Mapping[str, Namespace | None]) -> dict[RecordId, Namespace | None]:
    """The namespace in which each record of others is to be kept; None: wherever it is now."""
    return {shared_record_id(key): place for name, place in places.items() for key in view.others(name)}


def _stays(record: MemoryRecord, wanted: Mapping[RecordId, Namespace | None]) -> bool:
    return record.record_id in wanted and wanted[record.record_id] in {None, record.namespace}


async def _pages(
    storage: StorageBackend, namespace: Namespace | None, wanted: RecordFilter
) -> AsyncIterator[list[MemoryRecord]]:
    """All matching records, the newest first. A record may be removed before the next page is read."""
    before: Place | None = None
    while page := await storage.list_records(
        RecordQuery(namespace=namespace, limit=AT_ONCE, filter=wanted, before=before)
    ):
        before = (page[-1].created_at, page[-1].record_id)
        yield page


def _put_shared(transaction: StorageTransaction, shared: Sequence[MemoryRecord]) -> None:
    for record in shared:
        if transaction.has_forgotten(None, record.source_event_ids):
            continue
        with contextlib.suppress(DuplicateRecord):  # the user corrected it here
            transaction.put_memory_record(record)


def _withdraw(transaction: StorageTransaction, records: Sequence[MemoryRecord]) -> None:
    transaction.withdraw_memory_records(records)
