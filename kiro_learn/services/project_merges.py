"""Renames projects, and merges one into another, so that whatever comes to the one is kept in the other from then on.

A merge is written down in one commit and carried out in small ones. A daemon that is killed in between goes on at its
start.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import structlog
import trio

from kiro_learn.actors.project import Projects
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.namespace import PROJECT_NAME, Namespace
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.project_names import MergedProjects, NamedProject, ProjectNames

log = structlog.get_logger()

MOVED_AT_ONCE = 200
"""Rows: some tens of milliseconds, for which other writes wait."""


class ProjectMerges:
    """Renames and merges, one at a time. Every method may raise InvalidRequest, UnknownProject and StorageError."""

    name = "project merges"

    def __init__(
        self,
        storage: StorageBackend,
        writer: StorageActor,
        names: ProjectNames,
        merged: MergedProjects,
        *,
        projects: Projects,
        sessions: SessionLedger,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._names = names
        self._merged = merged
        self._projects = projects
        self._sessions = sessions
        self._turn = trio.Lock()
        self._stopped = trio.Event()
        self._stored: tuple[Mapping[Namespace, Namespace], Mapping[Namespace, str]] = ({}, {})
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

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()

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
