"""Lists a project's records, by page or around one of them, and its sessions, statistics and reports."""

from __future__ import annotations

from datetime import timedelta

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.errors import StorageCorrupt, UnknownCheckpoint, UnknownRecord
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EVERYTHING, MemoryRecord, RecordFilter
from kiro_learn.model.statistics import (
    Activity,
    Day,
    Days,
    NamedRecord,
    Period,
    ProjectInfo,
    Session,
    SessionHead,
    Stats,
    TokenEconomics,
    ToldSession,
)
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.answers import EventPage, RecordPage
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.retrieval.rendering.report import DAYS, Report, as_markdown, as_text, report_of
from kiro_learn.services.memories import one_record
from kiro_learn.services.project_names import Asked, ProjectNames
from kiro_learn.wire.cursors import cursor_after, place_of, record_cursor_after, record_place_of, session_cursor_after

MOST_REPORTED = 1_000
"""The newest records of a period, of which a report is made; its counts are of all records."""

MOST_SESSIONS = 1_000

MOST_SOURCES = 200
"""The most events of a memory that are read; most memories have a few."""


@attrs.frozen(kw_only=True)
class RecordSlice:
    """A slice of records, newest first."""

    items: tuple[MemoryRecord, ...]
    next_cursor: str | None
    """The cursor of the next slice; None at the end."""


@attrs.frozen(kw_only=True)
class SessionSlice:
    """A slice of sessions, the most recently active first."""

    items: tuple[SessionHead, ...]
    next_cursor: str | None


@attrs.frozen(kw_only=True)
class SessionPage:
    """A slice of a session's events, oldest first, and the memories that came from each."""

    session: Session
    events: tuple[Event, ...]
    memories: dict[EventId, list[NamedRecord]]
    next_cursor: str | None


@attrs.frozen(kw_only=True)
class Sources:
    """Where a memory came from, and which sessions were told it."""

    event_count: int
    """The number of events that the memory cites."""
    events: tuple[Event, ...]
    """The stored events among the first ``MOST_SOURCES``, oldest first."""
    told: tuple[ToldSession, ...]
    teachers: frozenset[str]
    """The users whose agents reported the stored events, and the one who shared the memory."""


@attrs.frozen(kw_only=True)
class Timeline:
    """Records of one project around one of them, oldest first."""

    before: tuple[MemoryRecord, ...]
    anchor: MemoryRecord
    after: tuple[MemoryRecord, ...]


@attrs.frozen(kw_only=True)
class Overview:
    """A project's figures."""

    activity: Activity
    sessions: int
    prompts: int
    economics: TokenEconomics


@attrs.frozen(eq=False)
class ProjectActivity:
    """Reads only. Every method may raise StorageError, and InvalidRequest for a project's name."""

    _storage: StorageBackend
    _projects: ProjectNames
    _clock: ClockAndIds
    _feedback: Aftermath

    async def records(
        self,
        project: Asked | None,
        *,
        limit: int,
        cursor: str | None = None,
        wanted: RecordFilter = EVERYTHING,
        only_knowledge: bool = False,
    ) -> RecordSlice:
        """A slice of the project's records, or of all records if that is None. New records do not shift later slices.

        Raises:
          InvalidRequest: ``cursor`` is not the ``next_cursor`` of a slice.
        """
        before = None if cursor is None else record_place_of(cursor)
        query = RecordQuery(
            namespace=await self._namespace_of(project),
            limit=limit + 1,
            filter=wanted,
            before=before,
            only_knowledge=only_knowledge,
        )
        found = await self._storage.list_records(query)
        items = tuple(found[:limit])
        return RecordSlice(items=items, next_cursor=record_cursor_after(items[-1]) if len(found) > limit else None)

    async def timeline(self, record_id: RecordId, *, before: int, after: int) -> Timeline:
        """The records made just before and after one, in its project. Raises UnknownRecord."""
        anchor = await one_record(self._storage, record_id)
        place = (anchor.created_at, anchor.record_id)
        query = RecordQuery(namespace=anchor.namespace, limit=before, before=place)
        earlier = await self._storage.list_records(query)
        later = await self._storage.list_records_after(anchor.namespace, place, limit=after)
        return Timeline(before=tuple(reversed(earlier)), anchor=anchor, after=tuple(later))

    async def sessions(self, project: Asked | None, *, limit: int, cursor: str | None = None) -> SessionSlice:
        """The sessions of a project, or of all if that is None, most recently active first.

        Raises:
          InvalidRequest: ``cursor`` is not the ``next_cursor`` of a slice.
        """
        before = None if cursor is None else place_of(cursor)
        namespace = await self._namespace_of(project)
        found = await self._storage.list_sessions(namespace, limit=limit + 1, before=before)
        items = await self._storage.get_session_heads(found[:limit])
        next_cursor = session_cursor_after(found[limit - 1]) if len(found) > limit else None
        return SessionSlice(items=tuple(items), next_cursor=next_cursor)

    async def session(
        self, project: Asked, session_id: str, *, limit: int, cursor: str | None = None
    ) -> SessionPage | None:
        """A slice of what a session reported; None if the project has no session with this id.

        Raises:
          InvalidRequest: ``cursor`` is not the ``next_cursor`` of a page.
        """
        after = None if cursor is None else place_of(cursor)
        named = await self._projects.resolve(project)
        found = await self._storage.list_session_events(named.namespace, session_id, limit=limit, after=after)
        if found.session is None:
            return None
        event_ids = [event.event_id for event in found.events]
        return SessionPage(
            session=found.session,
            events=found.events,
            memories=await self._storage.get_memories_of_events(named.namespace, event_ids),
            next_cursor=None if found.is_end or not found.events else cursor_after(found.events[-1]),
        )

    async def sources(self, record_id: RecordId) -> Sources:
        """Where a memory came from. Raises UnknownRecord."""
        record = await one_record(self._storage, record_id)
        cited, details = record.source_event_ids, record.details
        teachers = (await self._storage.list_teachers([record_id])).get(record_id, frozenset())
        return Sources(
            event_count=len(cited),
            events=tuple(await self._storage.get_events(cited[:MOST_SOURCES])),
            told=tuple(await self._storage.list_told_sessions(record_id)),
            teachers=teachers | ({details.shared_by} if details and details.shared_by else set()),
        )

    async def _namespace_of(self, project: Asked | None) -> Namespace | None:
        return None if project is None else (await self._projects.resolve(project)).namespace

    async def checkpoint(self, project: Asked, session: str | None = None) -> MemoryRecord:
        """The newest checkpoint of a session, or of the project. Raises UnknownCheckpoint."""
        named = await self._projects.resolve(project)
        found = await self._storage.get_checkpoint(named.namespace, session)
        if found is None:
            raise UnknownCheckpoint(named.name, session)
        return found

    async def overview(self, project: Asked, *, days: int) -> Overview:
        """The project's figures. ``days``: for how many days, today included, records are counted by day."""
        namespace = (await self._projects.resolve(project)).namespace
        midnight = self._clock.utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
        sessions = await self._storage.list_sessions(namespace, limit=MOST_SESSIONS)
        return Overview(
            activity=await self._storage.get_activity(namespace, since=midnight - timedelta(days=days - 1)),
            sessions=len(sessions),
            prompts=sum(session.prompt_count for session in sessions),
            economics=await self._storage.get_token_economics(namespace),
        )

    async def days(self, project: Asked | None, *, count: int) -> Days:
        """The figures of each of the last ``count`` days (UTC), today included, oldest first.

        They are those of one project, or of all if ``project`` is None.
        """
        namespace = None if project is None else (await self._projects.resolve(project)).namespace
        midnight = self._clock.utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
        first = midnight - timedelta(days=count - 1)
        found = await self._storage.get_days(namespace, since=first)
        days = [(first + timedelta(days=number)).date() for number in range(count)]
        return attrs.evolve(found, days={day: found.days.get(day, Day()) for day in days})

    async def report(self, project: Asked, period: Period) -> Report:
        """The report of the last 7 or 30 days."""
        named = await self._projects.resolve(project)
        until = self._clock.utc_now()
        since = until - timedelta(days=DAYS[period])
        query = RecordQuery(namespace=named.namespace, limit=MOST_REPORTED, filter=RecordFilter(since=since))
        records = await self._storage.list_records(query)
        return report_of(
            records,
            await self._storage.list_sessions(named.namespace, limit=MOST_SESSIONS),
            await self._storage.get_activity(named.namespace, since=since),
            project=named.name,
            period=period,
            since=since,
            until=until,
            feedback=self._feedback.sums_of(records),
        )

    async def written_report(self, project: Asked, period: Period, *, in_markdown: bool) -> str:
        """The report as text for people."""
        found = await self.report(project, period)
        return as_markdown(found) if in_markdown else as_text(found)


# Reads stored records, events and counts: the lists behind the API, the command line and the viewer.


class Queries:
    """Reads records, events, counts and projects. Every method may raise StorageError."""

    def __init__(self, storage: StorageBackend) -> None:
        self._storage = storage

    async def record(self, record_id: RecordId) -> MemoryRecord:
        """The record with this id. Raises UnknownRecord; StorageCorrupt if its row is damaged."""
        try:
            return await one_record(self._storage, record_id)
        except UnknownRecord as error:
            if record_id not in await self._storage.list_damaged():
                raise
            hint = f"kiro-learn memories forget {record_id}"
            raise StorageCorrupt(f"the row of {record_id} cannot be read", hint=hint) from error

    async def records(self, *, namespace: Namespace | None, limit: int, offset: int) -> RecordPage:
        """A page of live records, newest first; of all projects if ``namespace`` is None."""
        return await self._storage.list_memory_records(namespace=namespace, limit=limit, offset=offset)

    async def events(self, *, namespace: Namespace | None, limit: int, cursor: str | None) -> EventPage:
        """A page of events. Raises InvalidRequest: ``cursor`` is not the cursor of a page."""
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

    async def project_sizes(self) -> dict[Namespace, int]:
        """The bytes that are stored for each project, as ``StatisticsReads.get_project_sizes`` counts them."""
        return await self._storage.get_project_sizes()
