"""Memory records: kept, read, listed and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import RecordPage


class RecordReads(Protocol):
    """Reads of live records."""

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        """The records of these ids, in this order; unknown ones are left out, and damaged ones."""
        ...

    async def find_record_ids(self, namespace: Namespace, ending: str, limit: int) -> list[RecordId]:
        """The ids of a project's live records that end so, at most ``limit`` of them, the newest first."""
        ...

    async def list_memory_records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        """``limit`` live records from ``offset`` on, newest first; of all projects if ``namespace`` is None."""
        ...

    async def list_damaged(self) -> tuple[str, ...]:
        """Ids of the rows that cannot be read, as far as a read has met them since the store was opened. Every read
        goes on without them.
        """
        ...


class RecordWrites(Protocol):
    """Writes of new records, and forgetting."""

    def put_memory_record(self, record: MemoryRecord) -> None:
        """Keep ``record``, findable by its words at once and by its meaning once it has a vector.

        Raises:
          DuplicateRecord: its id is known, be it as one that was replaced.
        """
        ...

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        """Forget records with whatever they replaced, directly or not, and parked ones that say the same; what replaced
        them stays. Returns how many there were.
        """
        ...

    def is_forgotten(self, record: MemoryRecord) -> bool:
        """Whether a record of the same project was forgotten that cited one of its events, or said the same words."""
        ...

    def has_forgotten(self, namespace: Namespace, event_ids: Iterable[EventId]) -> bool:
        """Whether a record was forgotten that cited one of these events."""
        ...
