"""Renames projects, merges one into another, and knows which projects and sessions are paused.

Whatever comes to a merged project is kept in the other from then on. A merge is written down in one commit and carried
out in small ones. A daemon that is killed in between goes on at its start; and pauses stay then.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs
import structlog
import trio

from kiro_learn.actors.project import Projects
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.event import Event
from kiro_learn.model.namespace import PROJECT_NAME, Namespace, Pause
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.events import SessionReads
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.project_names import MergedProjects, NamedProject, ProjectNames

log = structlog.get_logger()

MOVED_AT_ONCE = 200
"""Rows: some tens of milliseconds, for which other writes wait."""


@attrs.define(eq=False)
class ProjectMerges:
    """Renames and merges, one at a time. Every method may raise InvalidRequest, UnknownProject and StorageError."""

    name = "project merges"

    _storage: StorageBackend
    _writer: StorageActor
    _names: ProjectNames
    _merged: MergedProjects
    _projects: Projects
    _sessions: SessionLedger
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _stopped: trio.Event = attrs.field(factory=trio.Event, init=False)
    _stored: tuple[Mapping[Namespace, Namespace], Mapping[Namespace, str]] = attrs.field(
        factory=lambda: ({}, {}), init=False
    )
    """Merges and names, when they were read last."""

    async def rename(self, project: str, name: str) -> NamedProject:
        """Let people call a project by ``name``; its folder finds it as before.

        Raises:
          InvalidRequest: it cannot be called so, or another one is.
        """
        named = await self._names.resolve(project)
        others = {each for namespace, each in (await self._names.names()).items() if namespace != named.namespace}
        if not PROJECT_NAME.fullmatch(name) or name in others:
            raise InvalidRequest([("$.name", "expected a name without slashes that no other project has")])
        await self._writer.write(
            lambda transaction: transaction.rename_project(named.namespace, name),
            then=lambda _: self._merged.rename(named.namespace, name),
        )
        self._names.forget_known()
        return attrs.evolve(named, name=name)

    def forgotten(self, namespace: Namespace) -> None:
        """All of a project was forgotten, its name too."""
        self._merged.unname(namespace)
        self._names.forget_known()

    async def merge(self, project: str, into: str) -> NamedProject:
        """Move all of ``project`` into another one; answers that.

        Cancellation: what was begun is carried out by the next daemon.

        Raises:
          InvalidRequest: they are one, or one of them is still embedded by another model.
        """
        async with self._turn:
            source, target = await self._names.resolve(project), await self._names.resolve(into)
            moved, kept = source.namespace, target.namespace
            await self._writer.write(
                lambda transaction: transaction.begin_merge(moved, kept), then=lambda _: self._merged.note(moved, kept)
            )
            await self._move(moved)
            self._names.forget_known()
            return target

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read what was merged before a hook is answered; then carry out what the daemon before could not."""
        merged = await self.read()
        task_status.started()
        async with self._turn:
            for source in merged:
                await self._move(source)
        await self._stopped.wait()

    async def read(self) -> Mapping[Namespace, Namespace]:
        """Know what is stored of merges and names, as at a start and after an import; answers the merges."""
        merged, names = stored = await self._storage.list_merged(), await self._storage.list_project_names()
        if stored != self._stored:
            self._stored = stored
            for source, target in merged.items():
                self._merged.note(source, target)
            for namespace, name in names.items():
                self._merged.rename(namespace, name)
            self._names.forget_known()
        return merged

    def stop(self) -> None:
        """End; a merge under way ends at its next step."""
        self._stopped.set()

    abandon = stop  # no caller waits for an answer

    async def _move(self, source: Namespace) -> None:
        target = self._merged.in_use(source)
        count, is_more = 0, 1
        while is_more and not self._stopped.is_set():
            is_more = await self._writer.write(lambda transaction: transaction.merge_some(source, limit=MOVED_AT_ONCE))
            count += is_more
        self._sessions.move(source, target)
        if count:
            self._projects.look(target)
            log.info("projects.merged", row_count=count)


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
