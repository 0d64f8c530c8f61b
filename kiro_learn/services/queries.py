"""Reads stored records, events and counts: the lists behind the API, the command line and the viewer."""

from __future__ import annotations

from kiro_learn.errors import StorageCorrupt, UnknownProject, UnknownRecord
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import ProjectInfo, Stats
from kiro_learn.ports.storage.answers import EventPage, RecordPage
from kiro_learn.ports.storage.interface import StorageBackend


async def namespaces_of(storage: StorageBackend, project_id: str) -> list[Namespace]:
    """One for each user of a project.

    Raises:
      UnknownProject: nothing was ever stored for it.
      StorageError: the store cannot tell.
    """
    projects = await storage.list_projects()
    namespaces = [project.namespace for project in projects if project_id_in(project.namespace) == project_id]
    if not namespaces:
        raise UnknownProject(project_id)
    return namespaces


class Queries:
    """Reads records, events, counts and projects. Every method may raise StorageError."""

    def __init__(self, storage: StorageBackend) -> None:
        self._storage = storage

    async def record(self, record_id: RecordId) -> MemoryRecord:
        """Raises UnknownRecord; StorageCorrupt if its row is damaged."""
        found = await self._storage.get_memory_records([record_id])
        if not found and record_id in await self._storage.list_damaged():
            raise StorageCorrupt(
                f"the row of {record_id} cannot be read", hint=f"kiro-learn memories forget {record_id}"
            )
        if not found:
            raise UnknownRecord(record_id)
        return found[0]

    async def records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        """A page of live records, newest first; of all projects if ``namespace`` is None."""
        return await self._storage.list_memory_records(namespace=namespace, limit=limit, offset=offset)

    async def events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """Raises InvalidRequest: ``cursor`` is none of ours."""
        return await self._storage.list_events(namespace=namespace, limit=limit, cursor=cursor)

    async def event(self, event_id: EventId) -> Event | None:
        """The event, learned or not; None if there is none."""
        return await self._storage.get_event_by_id(event_id)

    async def stats(self, namespace: Namespace | None) -> Stats:
        """Counts of events and records, of one project or, if ``namespace`` is None, of all."""
        return await self._storage.get_stats(namespace)

    async def projects(self) -> list[ProjectInfo]:
        """Every project with events or records, most events first."""
        return await self._storage.list_projects()
