"""Stores records that were not learned here: from an agent's tool, a person or an import."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DuplicateRecord
from kiro_learn.model.record import MemoryRecord, Origin
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.scrub import scrub_record

CHUNK_COUNT = 100
"""Records a commit, so that an import does not hold up the events of an agent at work."""


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
          DuplicateRecord: its id is known.
          StorageError: it could not be kept.
        """
        clean = scrub_record(record)
        await self._writer.write(lambda transaction: transaction.put_memory_record(clean))

    async def put_all(self, records: Sequence[MemoryRecord]) -> Imported:
        """Store those of ``records`` whose id is not known, and that are no memory of another memory that was forgotten
        here, in whichever project. A chunk is stored as a whole or not at all.

        Raises:
          StorageError: a chunk could not be kept; those before it were.
        """
        imported = 0
        for start in range(0, len(records), CHUNK_COUNT):
            chunk = [scrub_record(record) for record in records[start : start + CHUNK_COUNT]]
            imported += await self._writer.write(partial(_put_new, records=chunk))
        return Imported(imported, len(records) - imported)


def _put_new(transaction: StorageTransaction, records: Sequence[MemoryRecord]) -> int:
    put = 0
    for record in records:
        if record.origin is Origin.IMPORT and transaction.has_forgotten(None, record.source_event_ids):
            continue
        try:
            transaction.put_memory_record(record)
        except DuplicateRecord:
            continue
        put += 1
    return put
