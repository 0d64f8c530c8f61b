"""Follows what other daemons on the same store commit, and learns the events that they leave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import attrs
import structlog
import trio

from kiro_learn.actors.project import Projects
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import StorageBusy, StorageUnavailable
from kiro_learn.model.buffer import BufferSize
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.supervisor import Stop

log = structlog.get_logger()

AWAY_SECONDS = 5.0
"""The pause between two attempts to follow while the server is away."""
READ_SECONDS = 30.0
"""The pause between two reads of merges, project names and pauses while no changes come: no change reports these."""


@attrs.define(eq=False)
class ChangeFollower:
    """An actor that follows the changes of other daemons; it sleeps for ever if the store has only one daemon."""

    name = "other daemons"

    _storage: StorageBackend
    _writer: StorageActor
    _projects: Projects
    _clock: ClockAndIds
    _read: Sequence[Callable[[], Awaitable[Any]]]
    """Functions that read what no change reports."""
    _take_over_seconds: float
    """How long other daemons have to learn waiting events."""
    _waiting: Mapping[Namespace, BufferSize] = attrs.field(factory=dict, init=False)
    _stop: Stop = attrs.field(factory=Stop, init=False)
    _is_away: bool = attrs.field(default=False, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Follow the changes. Raises StorageError: some were missed, so the daemon has to start again."""
        task_status.started()
        begun = trio.current_time()
        read_at, look_at = begun + READ_SECONDS, begun + self._take_over_seconds
        with self._stop.ends_block():
            while True:
                try:
                    changes = await self._storage.follow_others()
                    self._writer.note_others(changes)
                    self._is_away = False
                    now = trio.current_time()
                    if changes or now >= read_at:  # a merge changes the target project
                        read_at = now + READ_SECONDS
                        for read in self._read:
                            await read()
                    if now >= look_at:
                        look_at = now + self._take_over_seconds
                        await self._take_over()
                except (StorageBusy, StorageUnavailable) as error:
                    if not self._is_away:
                        log.warning("other_daemons.not_followed", problem=str(error))
                    self._is_away = True
                    await trio.sleep(AWAY_SECONDS)

    def stop(self) -> None:
        """End at once: nothing waits for it."""
        self._stop.throw()

    abandon = stop  # no caller waits for an answer

    async def _take_over(self) -> None:
        """Wake the actors of projects in which nothing was learned since the last call.

        The daemon that took their events is gone, or its model does not answer.
        """
        waiting = await self._storage.list_buffers()
        late = self._clock.utc_now() - timedelta(seconds=self._take_over_seconds)
        parked = {each.namespace for each in await self._storage.list_parked_clusters(None) if each.retry_at < late}
        left = {namespace for namespace, size in waiting.items() if self._waiting.get(namespace) == size}
        for namespace in sorted(left | parked):
            self._projects.look(namespace)
        self._waiting = waiting
