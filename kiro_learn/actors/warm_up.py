"""Reads the vector indexes that the next prompts will want, so that the first prompt after a start is no slower."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.errors import DependencyError
from kiro_learn.storage.interface import ProjectInfo, StorageBackend

log = structlog.get_logger()

NEVER = datetime.min.replace(tzinfo=UTC)


class WarmUp:
    """Works once, behind everybody's back, and is done."""

    name = "warm-up"

    def __init__(self, storage: StorageBackend, embedder: Embedder, indexes: VectorIndexes, *, namespaces: int) -> None:
        self._storage = storage
        self._embedder = embedder
        self._indexes = indexes
        self._namespaces = namespaces
        self._scope = trio.CancelScope()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._scope:
            await self._embedder.wait_settled()
            try:
                await self._read_indexes()
            except DependencyError as error:
                log.info("warm_up.failed", problem=str(error))

    async def _read_indexes(self) -> None:
        """Embed one text, which makes the model's memory ready too, and look for it in the projects used last."""
        if not self._embedder.is_ready:
            return
        vector = await self._embedder.embed_query("warm up")
        projects = sorted(await self._storage.list_projects(), key=_last_used)[-self._namespaces :]
        for project in projects:
            await self._indexes.rank(project.namespace, vector, 1)
        log.info("warm_up.done", project_count=len(projects))

    def stop(self) -> None:
        """Nobody waits for it."""
        self._scope.cancel()

    def abandon(self) -> None:
        self._scope.cancel()


def _last_used(project: ProjectInfo) -> datetime:
    return project.last_event_at or NEVER
