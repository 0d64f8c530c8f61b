"""What is known of projects in memory, so that no hook waits: where merged ones are kept, and which are paused."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.event import Event
from kiro_learn.model.namespace import Namespace, Pause, Project, project_id_in
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.events import SessionReads

log = structlog.get_logger()

SILENCE = timedelta(hours=24)
"""A session that reports nothing for so long has ended, and its pause with it: no agent reports an end reliably."""
LOOK_SECONDS = 3_600.0


class Pauses:
    """All pauses in memory, so that no hook waits for the store."""

    name = "pauses"

    def __init__(self, storage: SessionReads, writer: StorageActor, clock: ClockAndIds) -> None:
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._pauses: dict[tuple[Namespace, str | None], Pause] = {}
        self._heard: dict[tuple[Namespace, str | None], datetime] = {}
        """When each paused session last reported something."""
        self._stopped = trio.Event()

    def holds(self, event: Event) -> bool:
        """Whether ``event``, as a hook reported it, is to be dropped."""
        session = (event.namespace, event.session_id)
        if session in self._pauses:
            self._heard[session] = self._clock.utc_now()
        return self.cover(event.namespace, event.session_id)

    def cover(self, namespace: Namespace, session_id: str) -> bool:
        """Whether the project is paused, or the session in it."""
        return (namespace, session_id) in self._pauses or (namespace, None) in self._pauses

    def list(self) -> tuple[Pause, ...]:
        """All pauses, the oldest first."""
        return tuple(sorted(self._pauses.values(), key=lambda pause: pause.since))

    async def pause(self, namespace: Namespace, session_id: str | None) -> Pause:
        """Begin a pause, unless there is one already. Raises StorageError: there is no pause then."""
        known = self._pauses.get((namespace, session_id))
        if known is not None:
            return known
        pause = Pause(namespace, session_id, self._clock.utc_now())
        await self._writer.write(lambda transaction: transaction.put_pause(pause), then=lambda _: self._note(pause))
        return pause

    async def resume(self, namespace: Namespace, session_id: str | None) -> bool:
        """End a pause; False: there is none. Raises StorageError: the pause goes on."""
        pause = self._pauses.get((namespace, session_id))
        if pause is None:
            return False
        await self._end(pause)
        return True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read the pauses before a hook is answered; then end those of sessions that are over."""
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
        """Read the stored pauses, as at a start, after an import, and when other daemons began or ended some."""
        known = tuple(self._pauses.items())
        stored = await self._storage.list_pauses()
        for pause in stored:
            self._note(pause)
        for key, pause in known:
            if key not in {(each.namespace, each.session_id) for each in stored}:
                self._drop(pause)

    def stop(self) -> None:
        """End at once; pauses go on."""
        self._stopped.set()

    abandon = stop  # no caller waits for an answer

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


class MergedProjects:
    """The project that each merged one is part of now, and names that people gave; in memory, so that no hook waits."""

    def __init__(self) -> None:
        self._target_of: dict[Namespace, Namespace] = {}
        self._names: dict[Namespace, str] = {}

    def in_use(self, namespace: Namespace) -> Namespace:
        """The namespace that all events and records of ``namespace`` are kept in."""
        return self._target_of.get(namespace, namespace)

    def sources_of(self, namespace: Namespace) -> list[Namespace]:
        """The namespaces that were merged into this one."""
        return [source for source, target in self._target_of.items() if target == namespace]

    def name_of(self, namespace: Namespace) -> str | None:
        """The name that a person gave a project; None if nobody did."""
        return self._names.get(namespace)

    def rename(self, namespace: Namespace, name: str) -> None:
        """Note the name that a person gave a project."""
        self._names[namespace] = name

    def unname(self, namespace: Namespace) -> None:
        """Forget the given name: the project is called by its folder from now on."""
        self._names.pop(namespace, None)

    def note(self, source: Namespace, target: Namespace) -> None:
        """Note that ``source`` is part of ``target`` from now on, with what was merged into it before."""
        for earlier, known in self._target_of.items():
            if known == source:
                self._target_of[earlier] = target
        self._target_of[source] = target


@attrs.frozen
class MergedProjectFinder:
    """A ``ProjectFinder`` that knows merged projects."""

    _finder: ProjectFinder
    _merged: MergedProjects

    async def project_of(self, folder: str) -> Project:
        """The project that keeps what happens in ``folder``."""
        found = await self._finder.project_of(folder)
        namespace = self._merged.in_use(found.namespace)
        return attrs.evolve(found, namespace=namespace, project_id=project_id_in(namespace))

    async def is_there(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return await self._finder.is_there(folder)
