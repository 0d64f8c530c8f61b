"""Stores observations, knowledge and checkpoints as clients send them. No model is asked.

Rules of this file: all records that are captured directly come through here, so that they are redacted and checked for
repeats on every way in.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.event import Event, EventKind, JsonBody, Source
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import (
    MOST_ALIKE,
    CapturedRecord,
    CaptureStamp,
    Checkpoint,
    KnowledgeItem,
    Observation,
    content_hash,
    metadata_of_others,
    record_of_checkpoint,
    record_of_knowledge,
    record_of_observation,
    window_around,
)
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.version import __version__
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.services.project_names import NamedProject, ProjectNames

SURFACE = "api"


@attrs.frozen
class Observed:
    """The result of one capture."""

    record_id: RecordId
    """The id of the stored record; for a repeat, the id of the earlier one."""
    is_repeat: bool
    """True: nothing was stored."""
    differs: tuple[str, ...] = ()
    """For a repeat, the names of the fields that differ from the earlier record, and were not stored."""


class Observe:
    """Stores one record a call, found by words at once, and by meaning once the backfiller has embedded it."""

    def __init__(self, writer: StorageActor, projects: ProjectNames, clock: ClockAndIds, *, actor_id: str) -> None:
        self._writer = writer
        self._projects = projects
        self._clock = clock
        self._actor_id = actor_id

    async def observe(self, observation: Observation) -> Observed:
        """Store one observation, unless it repeats one within the window of its type.

        Raises:
          InvalidRequest: a project cannot have this name.
          StorageError: the record could not be stored.
        """
        return await self._keep(observation, lambda capture: record_of_observation(observation, capture))

    async def add_knowledge(self, item: KnowledgeItem) -> Observed:
        """Store one item of knowledge, unless it repeats another one in every field.

        Also raises InvalidRequest for metadata of another type.
        """
        if problems := metadata_of_others(item):
            raise InvalidRequest(problems)
        return await self._keep(item, lambda capture: record_of_knowledge(item, capture))

    async def add_checkpoint(self, checkpoint: Checkpoint) -> Observed:
        """Store a checkpoint of a session, in the same way as knowledge."""
        return await self._keep(checkpoint, lambda capture: record_of_checkpoint(checkpoint, capture))

    async def _keep(
        self, handed_in: Observation | KnowledgeItem | Checkpoint, make: Callable[[CaptureStamp], MemoryRecord]
    ) -> Observed:
        project = await self._projects.resolve(handed_in.project, may_be_new=True)
        ulids = (self._clock.new_ulid(), self._clock.new_ulid())
        record = scrub_record(make(CaptureStamp.of(ulids, project.namespace, self._clock.utc_now())))
        capture = CapturedRecord(record, handed_in.session)
        event = self._event(record, project, handed_in.session)
        known = await self._writer.write(lambda transaction: _put_unless_repeated(transaction, capture, event))
        if known is None:
            return Observed(record.record_id, is_repeat=False)
        return Observed(known.record.record_id, is_repeat=True, differs=capture.differs_from(known))

    def _event(self, record: MemoryRecord, project: NamedProject, session: str | None) -> Event:
        """The event of a capture. Only the record has the content, so forgetting the record leaves nothing of it."""
        (event_id,) = record.source_event_ids
        return Event(
            event_id=event_id,
            session_id=session or event_id,
            actor_id=self._actor_id,
            namespace=record.namespace,
            schema_version=1,
            kind=EventKind.NOTE,
            body=JsonBody({"captured": record.record_id}),
            valid_time=record.created_at,
            source=Source(surface=SURFACE, version=__version__, client_id=self._actor_id, project_path=project.folder),
        )


def _put_unless_repeated(
    transaction: StorageTransaction, capture: CapturedRecord, event: Event
) -> CapturedRecord | None:
    """The earlier record that this capture repeats, if there is one; then nothing is written."""
    record = capture.record
    digest = content_hash(record)
    if digest is not None and record.capture_type is not None:
        after, before = window_around(record.capture_type, record.created_at)
        alike = transaction.list_alike(record.namespace, digest, after=after, before=before, limit=MOST_ALIKE)
        known = capture.repeated(alike)
        if known is not None:
            return known
    transaction.put_event(event, size_bytes=0, buffered=False)
    transaction.put_memory_record(record)
    return None
