"""Knows which projects and sessions are paused; they stay so when the daemon starts again."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.event import Event
from kiro_learn.model.namespace import Namespace, Pause
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.events import SessionReads

log = structlog.get_logger()

SILENCE = timedelta(hours=24)
"""A session that reports nothing for so long has ended, and its pause with it: no agent says so reliably."""
LOOK_SECONDS = 3_600.0


class Pauses:
    """All pauses in memory, so that no hook waits for the store to be asked."""

    name = "pauses"

    def __init__(self, storage: SessionReads, writer: StorageActor, clock: ClockAndIds) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._pauses: dict[tuple[Namespace, str | None], Pause] = {}
        self._heard: dict[tuple[Namespace, str | None], datetime] = {}
        """When a paused session reported something last."""
        self._stopped = trio.Event()

    def holds(self, event: Event) -> bool:
        """Whether ``event``, as a hook reported it, is to be dropped."""
        session = (event.namespace, event.session_id)
        if session in self._pauses:
            self._heard[session] = self._clock.utc_now()
        return session in self._pauses or (event.namespace, None) in self._pauses

    def list(self) -> tuple[Pause, ...]:
        """The oldest first."""
        return tuple(sorted(self._pauses.values(), key=lambda pause: pause.since))

    async def pause(self, namespace: Namespace, session_id: str | None) -> Pause:
        """Begin a pause, unless it is paused already. Raises StorageError: it is not paused."""
        known = self._pauses.get((namespace, session_id))
        if known is not None:
            return known
        pause = Pause(namespace, session_id, self._clock.utc_now())
        await self._writer.write(lambda transaction: transaction.put_pause(pause), then=lambda _: self._note(pause))
        return pause

    async def resume(self, namespace: Namespace, session_id: str | None) -> bool:
        """End a pause; False: there is none. Raises StorageError: it is paused still."""
        pause = self._pauses.get((namespace, session_id))
        if pause is None:
            return False
        await self._end(pause)
        return True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read them before a hook is answered; then end those of sessions that are over."""
        await self.read()
        task_status.started()
        while not self._stopped.is_set():
            with trio.move_on_after(LOOK_SECONDS):
                await self._stopped.wait()
            try:
                await self._end_silent()
            except KiroLearnError as error:
                log.warning("pauses.not_ended", problem=type(error).__name__)

    async def read(self) -> None:
        """Know what is stored, as at a start, after an import, and where other daemons began and ended some."""
        known = tuple(self._pauses.items())
        stored = await self._storage.list_pauses()
        for pause in stored:
            self._note(pause)
        for key, pause in known:
            if key not in {(each.namespace, each.session_id) for each in stored}:
                self._drop(pause)

    def stop(self) -> None:
        """End at once; what is paused stays so."""
        self._stopped.set()

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()

    async def _end_silent(self) -> None:
        now = self._clock.utc_now()
        for key, pause in tuple(self._pauses.items()):
            if pause.session_id is not None and now - self._heard[key] >= SILENCE:
                await self._end(pause)

    async def _end(self, pause: Pause) -> None:
        await self._writer.write(
            lambda transaction: transaction.delete_pause(pause.namespace, pause.session_id),
            then=lambda _: self._drop(pause),
        )

    def _drop(self, pause: Pause) -> None:
        self._pauses.pop((pause.namespace, pause.session_id), None)
        self._heard.pop((pause.namespace, pause.session_id), None)

    def _note(self, pause: Pause) -> None:
        key = (pause.namespace, pause.session_id)
        self._pauses[key] = pause
        self._heard.setdefault(key, self._clock.utc_now())
