"""Embeds with the current model all records that an earlier one embedded, project after project; then it ends.

Until a project has all its new vectors, its searches use the earlier model's. The store
knows which vectors exist, so that the next daemon continues where this one stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog
import trio

from kiro_learn.actors.backfiller import CHUNK_COUNT, RETRY_SECONDS, Backfiller
from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DependencyError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import ModelIdentity
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.runtime.actor import Stop

log = structlog.get_logger()

DAMAGED = "its row cannot be read"


class Reembedder:
    """After a change of the embedding model, embeds all records again; the backfiller embeds those without a vector."""

    name = "reembedder"

    def __init__(
        self,
        storage: StorageBackend,
        writer: StorageActor,
        embedder: Embedder,
        backfiller: Backfiller,
        *,
        batch_count: int,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._embedder = embedder
        self._backfiller = backfiller
        self._batch_count = batch_count
        self._stop = Stop()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            await self._embedder.wait_settled()
            current = self._embedder.current_model
            while self._embedder.is_ready and current is not None and self._embedder.projects_behind:
                try:
                    await self._embed_some(current)
                except DependencyError as error:
                    log.warning("reembedding.failed", problem=str(error))
                    await trio.sleep(RETRY_SECONDS)

    async def _embed_some(self, current: ModelIdentity) -> None:
        records = await self._storage.list_behind(self._batch_count)
        if not records:
            await self._set_damaged_aside(current)
        for start in range(0, len(records), CHUNK_COUNT):
            await self._backfiller.embed(records[start : start + CHUNK_COUNT], current)
        if len(records) < self._batch_count:
            await self._switch(self._embedder.projects_behind)
        else:
            await self._switch(_finished_projects(records))
        if not records and self._embedder.projects_behind:  # a record was stored just now, or a row cannot be read
            await trio.sleep(RETRY_SECONDS)

    async def _set_damaged_aside(self, current: ModelIdentity) -> None:
        """Set aside memories whose rows cannot be read: otherwise their projects would never switch."""
        damaged = await self._storage.list_damaged()

        def set_aside(transaction: StorageTransaction) -> None:
            for row_id in damaged:
                transaction.set_embedding_aside(RecordId(row_id), DAMAGED, current)

        if damaged:
            await self._writer.write(set_aside)

    async def _switch(self, namespaces: Sequence[Namespace]) -> None:
        """Switch projects to the current model; the store checks again that every record of a project is embedded."""

        def switch(transaction: StorageTransaction) -> None:
            for namespace in namespaces:
                transaction.switch_model(namespace)

        if namespaces:
            await self._writer.write(switch)

    def stop(self) -> None:
        self._stop.throw()

    def abandon(self) -> None:
        self._stop.throw()


def _finished_projects(records: Sequence[MemoryRecord]) -> list[Namespace]:
    """The projects of a full batch that have no further records to embed: all but the last."""
    return list(dict.fromkeys(record.namespace for record in records))[:-1]
