"""Takes in what an agent's hook reported, and says what the hook should print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kiro_learn import __version__
from kiro_learn.actors.offload import Offload
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.event import Event, EventKind, Source
from kiro_learn.model.ids import EventId
from kiro_learn.model.moment import from_milliseconds
from kiro_learn.model.namespace import Project
from kiro_learn.projects import ProjectFinder
from kiro_learn.services.capture import SMALL_BYTES, Capture
from kiro_learn.services.prompt import Prompt
from kiro_learn.storage.interface import StorageBackend
from kiro_learn.wire.hooks import HookReport, read_hook
from kiro_learn.world import World


class Hooks:
    """Gives a report what it lacks (an id, a session, a project), then treats it as any event."""

    def __init__(
        self,
        *,
        capture: Capture,
        prompt: Prompt,
        storage: StorageBackend,
        writer: StorageActor,
        project_finder: ProjectFinder,
        actor_id: str,
        world: World,
        offload: Offload,
    ) -> None:
        self._capture = capture
        self._prompt = prompt
        self._storage = storage
        self._writer = writer
        self._project_finder = project_finder
        self._actor_id = actor_id
        self._world = world
        self._offload = offload

    async def take(self, agent: str, payload: bytes, headers: Mapping[str, str], *, retrieve: bool) -> str:
        """Keep what a hook's request reports; answer the context for a prompt, or nothing. Junk reports nothing.

        Raises:
          StorageError: a report could not be kept; sending all of them again is safe if they bear ids.
        """
        context = ""
        for report in await self._read(agent, payload, headers):
            project = await self._project_finder.project_of(report.cwd)
            event = await self._event(agent, report, project)
            if retrieve and event.kind is EventKind.PROMPT:
                _, retrieval = await self._prompt.take(event)
                context = retrieval.context
            else:
                await self._capture.take(event)
        return context

    async def _read(self, agent: str, payload: bytes, headers: Mapping[str, str]) -> Sequence[HookReport]:
        """A large payload leaves the event loop for that."""
        if len(payload) <= SMALL_BYTES:
            return read_hook(agent, payload, headers)
        return await self._offload(lambda: read_hook(agent, payload, headers))

    async def _event(self, agent: str, report: HookReport, project: Project) -> Event:
        now = self._world.utc_now()
        return Event(
            event_id=EventId(report.event_id or self._world.new_ulid()),
            session_id=report.session_id or await self._session_of(report),
            actor_id=self._actor_id,
            namespace=project.namespace,
            schema_version=1,
            kind=report.kind,
            body=report.body,
            valid_time=now if report.happened_at_ms is None else from_milliseconds(report.happened_at_ms, latest=now),
            source=Source(
                surface=agent, version=__version__, client_id=self._actor_id, project_path=project.project_path
            ),
        )

    async def _session_of(self, report: HookReport) -> str:
        """The session of an agent that names none: one a process and folder, a new one each time it starts."""
        key = report.session_key
        known = None if report.is_spawn else await self._storage.get_hook_session(key)
        if known is not None:
            return known
        session_id = self._world.new_ulid()
        await self._writer.write(lambda transaction: transaction.put_hook_session(key, session_id))
        return session_id
