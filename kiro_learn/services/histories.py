"""Past sessions of agents as events, and the contents of other memories as records: found, read, and converted to ours.

Rules of this file: nothing is stored here. The caller hands the events and records to the daemon. The daemon redacts
them. By their ids it knows which ones it has already, and which ones it was told to forget.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import attrs

from kiro_learn.learning.extraction.splitting import BEFORE
from kiro_learn.model.checks import Worded, unchecked
from kiro_learn.model.event import Event, EventKind, Source, TextBody
from kiro_learn.model.ids import RECORD_PREFIX, RecordId, derived_event_id
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.model.observation import observation_type_of
from kiro_learn.model.record import (
    MAX_CAPTURE_TYPE,
    MAX_CONCEPTS,
    MAX_FACTS,
    MAX_FILES,
    KnowledgeType,
    MemoryRecord,
    ObservationType,
    Origin,
)
from kiro_learn.model.version import __version__
from kiro_learn.ports.histories import (
    HELD,
    HistoryPlace,
    HistoryReader,
    ImportRecord,
    MemoryReader,
    PastEvent,
    PastMemory,
    PastSession,
    Skipped,
)
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.retrieval.rendering.report import HEADING

OF_OURS = "sessions in which a model wrote memories"
UNREADABLE = "sessions that cannot be read"
BEFORE_SINCE = "events from before"
_NOT_READ = frozenset({UNREADABLE, HELD})

STILL_WRITTEN = timedelta(minutes=10)
"""A session that changed this lately may still go on: its last answer is left for a later import."""
_OUR_PROMPT = BEFORE[:80]
_TOLD = HEADING.strip()
_TICK = timedelta(milliseconds=1)


class FoundSession(NamedTuple):
    """A past session, and the reader that can read it."""

    reader: HistoryReader
    session: PastSession

    @property
    def key(self) -> str:
        """The key that identifies the session in the record of imports."""
        return f"{self.reader.name} {self.session.path} {self.session.session_id}"


@attrs.frozen(kw_only=True)
class WantedSessions:
    """Which past sessions are wanted; a field that is left out selects all."""

    sources: Collection[str] = ()
    """The names of readers."""
    folders: tuple[Path, ...] = ()
    """The folders of projects, since some programs keep their history next to the code."""
    since: datetime | None = None
    limit: int | None = None
    """The most sessions; the newest ones are taken."""


@attrs.frozen(eq=False)
class PastSessions:
    """The past sessions on this machine."""

    _readers: Sequence[HistoryReader]
    _place: HistoryPlace
    _record: ImportRecord
    _now: datetime

    @property
    def sources(self) -> dict[str, str]:
        """The title of each reader, by its name."""
        return {reader.name: reader.title for reader in self._readers}

    def found(self, wanted: WantedSessions) -> list[FoundSession]:
        """The wanted sessions, newest first, without those that were imported whole and have not changed since."""
        place = attrs.evolve(self._place, folders=wanted.folders)
        readers = [reader for reader in self._readers if not wanted.sources or reader.name in wanted.sources]
        found = [FoundSession(reader, session) for reader in readers for session in reader.sessions(place)]
        new = [each for each in found if not self._record.has(each.key, each.session.state)]
        if wanted.since is not None:
            new = [each for each in new if each.session.changed_at >= wanted.since]
        new.sort(key=lambda each: (each.session.changed_at, each.key), reverse=True)
        return new[: wanted.limit]

    def events(self, found: FoundSession, skipped: Skipped, *, since: datetime | None = None) -> Iterator[PastEvent]:
        """The events of a session that come from a person, an agent or a tool, each with its time.

        If the reader fails in the middle, the events before that are kept, and the session counts as skipped.
        """
        moments: dict[str, datetime] = {}
        began: dict[str, str] = {}
        try:
            for event in found.reader.events(found.session, skipped):
                if _is_of_our_own(event):
                    skipped(OF_OURS)
                    return
                at = self._moment(event, found.session, moments)
                folder = event.folder or found.session.folder
                began_in = began.setdefault(event.session_id, folder)
                ours = _without_told(attrs.evolve(event, happened_at=at, folder=folder, began_in=began_in))
                if since is not None and at < since:
                    skipped(BEFORE_SINCE)
                elif ours is not None and not (event.may_go_on and self.is_still_written(found)):
                    yield ours
        except OSError:
            skipped(UNREADABLE)

    def is_still_written(self, found: FoundSession) -> bool:
        """Whether the session may still go on."""
        return found.session.changed_at > self._now - STILL_WRITTEN

    def note_imported(self, found: FoundSession, left_out: Collection[str]) -> None:
        """Note that the session was imported: it is not read again unless it changes.

        Args:
          left_out: the reasons for which lines were left out. A session that could not be read is not noted.
        """
        if not self.is_still_written(found) and _NOT_READ.isdisjoint(left_out):
            self._record.add(found.key, found.session.state)

    def _moment(self, event: PastEvent, session: PastSession, moments: dict[str, datetime]) -> datetime:
        """The time of the event. A time in the future is ignored, or an old session would pass for the newest.

        Some agents write whole seconds, and the order counts: of events within one second, each is made later than the
        last.
        """
        last = moments.get(event.session_id)
        said = event.happened_at
        if said is None or said > self._now:
            said = last or session.changed_at
        at = min(said, self._now)
        if last is not None and timedelta() <= last - at < timedelta(seconds=1):
            at = last + _TICK
        moments[event.session_id] = at
        return at


def project_in_session(past: PastEvent, project_of: Callable[[str], Project]) -> Project:
    """The project of the event's folder; for a package, that of its repository if the session began there.

    As hooks report it (``SessionProjects``).
    """
    found = project_of(past.folder)
    if found.repository_path in {"", found.project_path}:
        return found
    whole = project_of(found.repository_path)
    return whole if project_of(past.began_in).namespace == whole.namespace else found


def as_event(past: PastEvent, project: Project, *, agent: str) -> Event:
    """The event that the daemon is to store."""
    assert past.happened_at is not None, "PastSessions gives each event its time"
    actor_id = unquote(project.namespace.split("/")[2])
    return unchecked(
        Event,
        event_id=derived_event_id(past.session_id, past.kind, past.key),
        session_id=past.session_id,
        actor_id=actor_id,
        namespace=project.namespace,
        schema_version=1,
        kind=past.kind,
        body=past.body,
        valid_time=past.happened_at,
        source=unchecked(
            Source,
            surface=agent,
            version=__version__,
            client_id=actor_id,
            project_path=project.project_path,
            branch=past.branch,
        ),
    )


def _is_of_our_own(event: PastEvent) -> bool:
    """Whether the event asks a model to write memories, as our own prompts do."""
    return (
        event.kind is EventKind.PROMPT
        and isinstance(event.body, TextBody)
        and event.body.content.startswith(_OUR_PROMPT)
    )


def _without_told(event: PastEvent) -> PastEvent | None:
    """The event without the text that we told with the prompt; None if the prompt had nothing else."""
    if event.kind is not EventKind.PROMPT or not isinstance(event.body, TextBody) or _TOLD not in event.body.content:
        return event
    said = event.body.content.partition(_TOLD)[0].strip()
    return attrs.evolve(event, body=TextBody(said)) if said else None


UNSEEN = "memories without text that can be seen"
UNREADABLE_STORES = "stores of memories that cannot be read"


_WORDED = Worded(1, sys.maxsize)


class FoundStore(NamedTuple):
    """A store of another memory, and the reader that can read it."""

    reader: MemoryReader
    store: PastSession


class PastMemories:
    """The contents of the other memories on this machine."""

    def __init__(self, readers: Sequence[MemoryReader], place: HistoryPlace) -> None:
        self._readers = readers
        self._place = place

    @property
    def sources(self) -> dict[str, str]:
        """The title of each reader, by its name."""
        return {reader.name: reader.title for reader in self._readers}

    def found(self, sources: Collection[str] = ()) -> list[FoundStore]:
        """All stores; if ``sources`` names readers, only their stores."""
        readers = [reader for reader in self._readers if not sources or reader.name in sources]
        return [FoundStore(reader, store) for reader in readers for store in reader.stores(self._place)]

    def memories(self, found: FoundStore, skipped: Skipped) -> Iterator[PastMemory]:
        """The memories of a store that hold; if the store fails in the middle, those before that."""
        try:
            for memory in found.reader.memories(found.store, self._place, skipped):
                if _is_worded(memory.title) and _is_worded(memory.summary):
                    yield memory
                else:
                    skipped(UNSEEN)
        except OSError:
            skipped(UNREADABLE_STORES)


def _is_worded(text: str) -> bool:
    try:
        _WORDED(None, None, text)  # type: ignore[arg-type]  # it looks at the text alone
    except ValueError:
        return False
    return True


def as_record(past: PastMemory, found: FoundStore, namespace: Namespace, *, now: datetime) -> MemoryRecord:
    """The record for the daemon to store, redacted and cut to its bounds; the same memory always has the same id."""
    source = found.reader.name
    has_time = past.made_at is not None and past.made_at <= now
    made_at = past.made_at if has_time else min(found.store.changed_at, now)
    knowledge = KnowledgeType(past.type) if past.type in set(KnowledgeType) else None
    facts = (*(past.details.facts() if past.details else ()), *past.facts)
    record = unchecked(
        MemoryRecord,
        record_id=RecordId(RECORD_PREFIX + derived_event_id(source, "memory", past.key)),
        namespace=namespace,
        strategy=source,
        title=past.title,
        summary=past.summary,
        facts=_first_of(facts, MAX_FACTS),
        concepts=_first_of(past.concepts, MAX_CONCEPTS),
        observation_type=observation_type_as(knowledge, past.type),
        source_event_ids=(derived_event_id(source, "source", past.key),),
        created_at=made_at,
        knowledge_type=knowledge,
        files_read=_first_of(past.files_read, MAX_FILES),
        files_modified=_first_of(past.files_modified, MAX_FILES),
        origin=Origin.IMPORT,
        capture_type=past.type[:MAX_CAPTURE_TYPE],
        text=past.text,
        details=past.details,
    )
    return scrub_record(record)


def observation_type_as(knowledge: KnowledgeType | None, kind: str) -> ObservationType:
    """The observation type of a record with this knowledge type, or else with the capture type ``kind``."""
    if knowledge is None:
        return observation_type_of(kind)
    return ObservationType.PATTERN if knowledge is KnowledgeType.HEURISTIC else ObservationType.DECISION


def _first_of(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """The first ``most`` of ``texts`` that are not empty."""
    return tuple(islice(filter(None, texts), most))
