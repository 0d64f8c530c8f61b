"""The port to past sessions: what agents keep of them on this machine, each in files or a database of its own shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

import attrs

from kiro_learn.model.event import Body, EventKind
from kiro_learn.model.record import RecordDetails


@attrs.frozen(kw_only=True)
class HistoryPlace:
    """Where to look for what agents keep."""

    user: Path
    """The user's folder."""
    environment: Mapping[str, str]
    """Its variables may say that an agent's folder is elsewhere."""
    repositories: tuple[Path, ...] = ()
    """Folders of projects whose commits a person asked for."""
    folders: tuple[Path, ...] = ()
    """Of projects, since some programs keep their history beside the code; and files that a person named."""


@attrs.frozen(kw_only=True)
class PastSession:
    """One session that lies on the disk, as far as can be told without reading it."""

    session_id: str
    """By which the agent's hooks report as well. 1 to 128 characters."""
    path: Path
    """The file that holds it; several may be in one."""
    changed_at: datetime
    """Last, in UTC."""
    size_bytes: int
    """Of what has to be read; where many share a file, an estimate."""
    state: str
    """Any text that is another one as soon as the session is; of a file its inode, size and modification time."""
    folder: str = ""
    """Absolute, in which it began; empty where only reading it tells."""


@attrs.frozen(kw_only=True)
class PastEvent:
    """One thing that happened in a past session, as a hook would have reported it."""

    session_id: str
    """That of the hooks. A sub-agent has its own."""
    kind: EventKind
    """A prompt, a use of a tool, or a session_summary: the final answer of a turn."""
    key: str
    """Tells it apart from all others of its kind in the session, today and whenever it is read again: of a use of a
    tool the id of the call, which hooks report too, with that of its record if others might have it (``is_unique``);
    else the id of the record, or its ordinal. ``derived_event_id`` makes the event's id of it."""
    body: Body
    """Made by ``wire.hooks.bodies``, as those of hooks are."""
    happened_at: datetime | None
    """In UTC; None: as of the event before it."""
    folder: str
    """Absolute; empty where it is not known."""
    branch: str | None = None
    """That was checked out there, if the history says so."""
    may_go_on: bool = False
    """The history ends here, and does not say that the turn is over: of an answer, another one may yet follow."""


Skipped: TypeAlias = Callable[[str], None]
"""Counts what a reader leaves out, by the reason: a few words for the sort of thing, without any of its content."""


class ImportRecord(Protocol):
    """Which sessions were imported whole, and in which state. It only saves time: nothing is lost with it."""

    def has(self, key: str, state: str) -> bool:
        """Whether this session was, as it is now."""

    def add(self, key: str, state: str) -> None:
        """It was.

        Raises:
          OSError: that cannot be kept.
        """


class HistoryReader(Protocol):
    """Past sessions of one source. It writes nothing, and opens no file that holds credentials alone."""

    name: str
    """That the command line takes."""
    title: str
    """For people."""
    agent: str
    """By whose name the hooks of the same agent report."""

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        """Every session that lies there, found by listing, in any order; nothing if there is no such folder.

        Sessions that a memory's own programs held are left out as far as a name tells; else they have no events.
        """

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        """What happened in it, oldest first, read as it is asked for and bounded in memory.

        Nothing that stands in a file makes it fail. Of a file that grows, what was told before is told again.

        Raises:
          OSError: it cannot be read, or is gone.
        """


@attrs.frozen(kw_only=True)
class PastMemory:
    """One memory that another memory keeps."""

    key: str
    """Tells it apart from all others of its store, today and whenever it is read again."""
    project: str
    """The folder of its project, or its name where no folder is known; empty: it names none."""
    made_at: datetime | None
    """In UTC."""
    type: str
    """What it is called there, as ``bugfix``; one of the types of knowledge makes it that."""
    title: str
    summary: str
    text: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    details: RecordDetails | None = None


class MemoryReader(Protocol):
    """What another memory keeps. As ``HistoryReader``; of any length, and with any secrets in it."""

    name: str
    title: str

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        """Every store of it that lies there, as a session is found; nothing if there is none."""

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        """What holds of it, in any order. Raises OSError."""
