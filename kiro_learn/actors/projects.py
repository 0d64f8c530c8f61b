"""Finds the actor of a project, starting it when there is something for it to do."""

from __future__ import annotations

from collections.abc import Callable

import trio

from kiro_learn.actors.project import ProjectActor, ProjectStatistics
from kiro_learn.actors.project_work import Flushed
from kiro_learn.actors.relearning import Relearned, Relearning
from kiro_learn.errors import ActorStopped
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.buffer import BufferReads
from kiro_learn.runtime.supervisor import catch_errors, run_to_the_end

NewProject = Callable[[Namespace], ProjectActor]


class Projects:
    """Runs the project actors, each supervised on its own, so that one that fails does not affect the others.

    A failed actor stays in the statistics, with its problem, until the next event of its project starts another.
    """

    name = "projects"

    def __init__(self, storage: BufferReads, new_project: NewProject) -> None:
        self._storage = storage
        self._new_project = new_project
        self._actors: dict[Namespace, ProjectActor] = {}
        self._nursery: trio.Nursery | None = None
        self._stopped = trio.Event()

    def events_arrived(self, namespace: Namespace, event_count: int, size_bytes: int) -> None:
        """Note that events were committed to a project's buffer.

        Does nothing before ``run`` has read the buffers, where it finds them, and while the daemon stops: the next one
        learns them.
        """
        actor = self._running_actor(namespace)
        if self._stopped.is_set() or self._nursery is None:
            return
        (actor or self._start(namespace)).events_arrived(event_count, size_bytes)

    def look(self, namespace: Namespace) -> None:
        """Let a project's actor read its buffer anew: entries came to it that it was not told of."""
        actor = self._running_actor(namespace)
        if self._stopped.is_set() or self._nursery is None:
            return
        (actor or self._start(namespace)).look()

    async def flush(self, namespace: Namespace) -> Flushed:
        """As ``ProjectActor.flush``."""
        actor = self._running_actor(namespace) or self._start(namespace)
        return await actor.flush()

    async def relearn(self, namespace: Namespace, relearning: Relearning) -> Relearned:
        """As ``ProjectActor.relearn``."""
        actor = self._running_actor(namespace) or self._start(namespace)
        return await actor.relearn(relearning)

    def statistics(self) -> list[ProjectStatistics]:
        return [actor.statistics() for actor in self._actors.values()]

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._nursery = None  # that of an earlier run is closed
        buffers = await self._storage.list_buffers()
        clusters = await self._storage.list_parked_clusters(None)
        self._actors.clear()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for namespace in dict.fromkeys((*buffers, *(cluster.namespace for cluster in clusters))):
                self._start(namespace)
            task_status.started()
            await self._stopped.wait()
            for actor in self._actors.values():
                actor.stop()

    def stop(self) -> None:
        self._stopped.set()

    def abandon(self) -> None:
        self.stop()

    def _running_actor(self, namespace: Namespace) -> ProjectActor | None:
        actor = self._actors.get(namespace)
        return None if actor is None or actor.is_retired else actor

    def _start(self, namespace: Namespace) -> ProjectActor:
        if self._nursery is None or self._stopped.is_set():
            raise ActorStopped(self.name)
        actor = self._actors[namespace] = self._new_project(namespace)
        self._nursery.start_soon(self._run_actor, namespace, actor)
        return actor

    async def _run_actor(self, namespace: Namespace, actor: ProjectActor) -> None:
        outcome = await catch_errors(actor.name, lambda: run_to_the_end(actor))
        if outcome is not None:
            actor.note_end(outcome)
        elif self._actors.get(namespace) is actor:
            del self._actors[namespace]
