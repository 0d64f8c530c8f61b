"""Learns a project's waiting events at once, on demand."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.actors.backfiller import Backfiller
from kiro_learn.actors.project import Projects
from kiro_learn.model.buffer import BufferSize
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.queries import namespaces_of

LESS_THAN_ALL = 99.9
"""The highest percentage shown while any are left."""


@attrs.frozen
class ProjectFlushed:
    """The counts of a flush."""

    event_count: int
    record_count: int
    parked_count: int
    """Events that are not learned yet: they came in the meantime, or their commit failed."""


@attrs.frozen
class EmbeddingState:
    """How much of the memory can be found by meaning."""

    total: int
    embedded: int
    set_aside: int

    @property
    def percentage(self) -> float:
        """Of records with a vector; one decimal; 100 when all have one."""
        return 100.0 if self.embedded == self.total else min(LESS_THAN_ALL, round(100 * self.embedded / self.total, 1))


class Learn:
    """Empties buffers and catches up with vectors, on demand."""

    def __init__(self, storage: StorageBackend, projects: Projects, backfiller: Backfiller, *, embeds: bool) -> None:
        self._storage = storage
        self._projects = projects
        self._backfiller = backfiller
        self._embeds = embeds

    async def flush(self, project_id: str) -> ProjectFlushed:
        """Learn all that waits for a project, of every user of it, and store the vectors.

        Raises:
          UnknownProject: nothing was ever stored for it.
          DependencyError: the learner, the model or the store failed; what was not learned still waits.
        """
        namespaces = await namespaces_of(self._storage, project_id)
        flushed = [await self._projects.flush(namespace) for namespace in namespaces]
        if self._embeds:
            await self._backfiller.wait_idle()
        return ProjectFlushed(
            event_count=sum(each.event_count for each in flushed),
            record_count=sum(each.record_count for each in flushed),
            parked_count=await self._count_parked(namespaces),
        )

    async def _count_parked(self, namespaces: Sequence[Namespace]) -> int:
        size = BufferSize.total([await self._storage.get_buffer_size(namespace) for namespace in namespaces])
        clusters = [each for namespace in namespaces for each in await self._storage.list_parked_clusters(namespace)]
        events = {event_id for each in clusters for record in each.records for event_id in record.source_event_ids}
        return size.event_count + size.parked_event_count + len(events)

    async def embedding_state(self) -> EmbeddingState:
        """Counts of records with and without a vector, of all projects. Raises StorageError."""
        counts = await self._storage.count_embeddings(None)
        return EmbeddingState(counts.total, counts.embedded, counts.set_aside)

    async def backfill(self) -> int:
        """Give every record its vector; returns how many got one.

        Raises:
          EmbeddingError: there is no model.
          StorageError: the store failed.
        """
        before = await self.embedding_state()
        await self._backfiller.wait_idle()
        after = await self.embedding_state()
        return max(0, after.embedded - before.embedded)
