"""Embeds records that have no vector yet, and the passages of records; sleeps while there is no such record."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np
import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DependencyError, EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, embedded_text
from kiro_learn.model.vectors import Codes, ModelIdentity, Parts, to_codes
from kiro_learn.ports.storage.answers import Change, ModelSwitched, RecordStored
from kiro_learn.ports.storage.embeddings import EmbeddingReads
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.runtime.supervisor import Stop

log = structlog.get_logger()

CHUNK_COUNT = 4
"""Records embedded between two commits: a quarter of a second, or a few seconds if they are long."""

RETRY_SECONDS = 30.0
"""Pause before the next attempt after the store failed, or while there is no model."""


@attrs.frozen
class BackfillStatistics:
    """The backfiller's present state and counts."""

    is_working: bool
    """True while it knows of a record without a vector."""
    embedded_count: int
    """Records embedded since the daemon started."""
    set_aside_count: int
    """Records given up on since the daemon started; each has its reason in the store."""
    problem: str | None
    """Why the backfiller cannot go on, or None."""


class Backfiller:
    """Embeds the stored records that have no vector, and writes the vectors back."""

    name = "backfiller"

    def __init__(self, storage: EmbeddingReads, writer: StorageActor, embedder: Embedder, *, batch_count: int) -> None:
        self._storage = storage
        self._writer = writer
        self._embedder = embedder
        self._batch_count = batch_count
        self._wanted = trio.Event()
        self._idle = trio.Event()
        self._stop = Stop()
        self._embedded_count = 0
        self._set_aside_count = 0
        self._problem: str | None = None

    def apply(self, change: Change) -> None:
        """Follow a commit: a stored record may lack its vector, as may those of a project with a new model."""
        if isinstance(change, RecordStored | ModelSwitched):
            self._wake()

    async def wait_idle(self) -> None:
        """Look for records without a vector now, and return when none is left, or nothing can be done about them.

        Raises:
          EmbeddingError: there is no model to embed them with.
        """
        self._wake()
        await self._idle.wait()
        if self._problem is not None:
            raise EmbeddingError(self._problem)

    def statistics(self) -> BackfillStatistics:
        return BackfillStatistics(not self._idle.is_set(), self._embedded_count, self._set_aside_count, self._problem)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._wake()
        task_status.started()
        with self._stop.ends_block():
            while True:
                if self._idle.is_set():
                    self._idle = trio.Event()
                await self._work_until_done()
                self._idle.set()
                with trio.move_on_after(RETRY_SECONDS if self._problem else math.inf):
                    await self._wanted.wait()

    def stop(self) -> None:
        """Stop at once: the next daemon embeds what is left, and no caller waits for it."""
        self._stop.throw()

    def abandon(self) -> None:
        self._problem = self._problem or "the daemon is stopping"
        self._idle.set()

    def _wake(self) -> None:
        self._wanted.set()
        if self._idle.is_set():
            self._idle = trio.Event()

    async def _work_until_done(self) -> None:
        while True:
            self._wanted = trio.Event()
            try:
                out_of_reach = self._embedder.models.out_of_reach
                # Without a model nothing is embedded: one record is enough to know that there is work.
                count = self._batch_count if self._embedder.is_ready else 1
                records = await self._storage.list_unembedded(count, leave_out=out_of_reach)
                for start in range(0, len(records), CHUNK_COUNT):
                    for model, group in (await self._by_model(records[start : start + CHUNK_COUNT])).items():
                        await self.embed(group, model)
                if not records:  # passages come last: a record without a vector is not found by meaning at all
                    records = await self._storage.list_without_passages(CHUNK_COUNT, leave_out=out_of_reach)
                    for model, group in (await self._by_model(records)).items():
                        await self._embed_passages(group, model)
                self._problem = None
            except DependencyError as error:
                problem = str(error)
                if problem != self._problem:  # logged once, not at each new record or retry
                    log.warning("backfill.failed", problem=problem)
                self._problem = problem
                return
            if not records and not self._wanted.is_set():
                return

    async def _by_model(self, records: Sequence[MemoryRecord]) -> dict[ModelIdentity, list[MemoryRecord]]:
        groups: dict[ModelIdentity, list[MemoryRecord]] = {}
        for record in records:
            groups.setdefault(await self._embedder.learning_model(record.namespace), []).append(record)
        return groups

    async def embed(self, records: Sequence[MemoryRecord], model: ModelIdentity) -> None:
        """Embed ``records`` and store their vectors; if a batch fails, each is tried alone, or set aside."""
        try:
            embeddings = await self._embedder.embed_texts([embedded_text(record) for record in records], model)
        except EmbeddingError as error:
            if not self._embedder.is_ready:
                raise
            if len(records) == 1:
                await self._set_aside(records[0], error, model)
                return
            for record in records:
                await self.embed([record], model)
            return
        pairs = list(zip(records, embeddings, strict=True))
        await self._writer.write(lambda transaction: _put_embeddings(transaction, pairs, model))
        self._embedded_count += len(records)

    async def _embed_passages(self, records: Sequence[MemoryRecord], model: ModelIdentity) -> None:
        codes = []
        for record in records:
            codes.append((record, await self._passage_codes(record, model)))
            if self._wanted.is_set():  # a new record may lack its vector, which goes first
                break
        await self._writer.write(lambda transaction: _put_passages(transaction, codes, model))

    async def _passage_codes(self, record: MemoryRecord, model: ModelIdentity) -> Codes:
        """One row per passage; none if there are no passages or the model fails: words then choose passages."""
        none: Codes = np.empty((0, model.dimension), np.int8)
        texts = [passage.text for passage in passages_of(record)]
        if not texts:
            return none
        try:
            parts = await self._embedder.embed_passages(texts, model)
        except EmbeddingError as error:
            if not self._embedder.is_ready:
                raise
            log.warning("backfill.passages_failed", record_id=record.record_id, problem=str(error))
            return none
        return to_codes(np.stack([rows[0] for rows in parts]))

    async def _set_aside(self, record: MemoryRecord, error: EmbeddingError, model: ModelIdentity) -> None:
        reason = str(error)
        await self._writer.write(lambda transaction: transaction.set_embedding_aside(record.record_id, reason, model))
        self._set_aside_count += 1
        log.warning("backfill.set_aside", record_id=record.record_id, problem=reason)


def _put_passages(
    transaction: StorageTransaction, pairs: Sequence[tuple[MemoryRecord, Codes]], model: ModelIdentity
) -> None:
    for record, codes in pairs:
        transaction.put_passages(record.record_id, codes, model)


def _put_embeddings(
    transaction: StorageTransaction, pairs: Sequence[tuple[MemoryRecord, Parts]], model: ModelIdentity
) -> None:
    for record, parts in pairs:
        transaction.put_embedding(record.record_id, parts, model)


# Embeds all records of an earlier model with the current one, project after project; then it ends.
#
# Until a project has all its new vectors, its searches use those of the earlier model. The store knows which vectors
# exist, so the next daemon continues where this one stopped.

DAMAGED = "its row cannot be read"


@attrs.frozen(eq=False)
class Reembedder:
    """After a change of the embedding model, embeds all records again; the backfiller embeds those without a vector."""

    name = "reembedder"

    _storage: StorageBackend
    _writer: StorageActor
    _embedder: Embedder
    _backfiller: Backfiller
    _batch_count: int
    _stop: Stop = attrs.field(factory=Stop, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            await self._embedder.wait_settled()
            current = self._embedder.models.current
            while self._embedder.is_ready and current is not None and self._embedder.models.behind:
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
            await self._switch(self._embedder.models.behind)
        else:
            await self._switch(_finished_projects(records))
        if not records and self._embedder.models.behind:  # a record was stored just now, or a row cannot be read
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

    abandon = stop  # no caller waits for an answer


def _finished_projects(records: Sequence[MemoryRecord]) -> list[Namespace]:
    """The projects of a full batch that have no further records to embed: all but the last."""
    return list(dict.fromkeys(record.namespace for record in records))[:-1]
