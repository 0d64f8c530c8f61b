"""The port to past sessions: what agents keep of them on this machine, each in its own kind of files or database."""

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
    """Where to look for agents' histories."""

    user: Path
    """The user's home folder."""
    environment: Mapping[str, str]
    """Environment variables, which may name another folder for an agent."""
    repositories: tuple[Path, ...] = ()
    """Folders of projects whose commits are to be read, as a person asked."""
    folders: tuple[Path, ...] = ()
    """Folders of projects, since some programs keep their history next to the code; and files that a person named."""


@attrs.frozen(kw_only=True)
class PastSession:
    """One session on the disk, as far as it is known without reading it."""

    session_id: str
    """The session id, the same that the agent's hooks report. 1 to 128 characters."""
    path: Path
    """The file that holds the session; a file may hold several."""
    changed_at: datetime
    """When the session changed last, in UTC."""
    size_bytes: int
    """How many bytes have to be read; an estimate where many sessions share a file."""
    state: str
    """Any text that changes whenever the session does; for a file: its inode, size and modification time."""
    folder: str = ""
    """The absolute folder in which the session began; empty if only reading the session tells."""


@attrs.frozen(kw_only=True)
class PastEvent:
    """One thing that happened in a past session, as a hook would have reported it."""

    session_id: str
    """The session id that hooks report. A sub-agent has its own."""
    kind: EventKind
    """A prompt, a use of a tool, or a session_summary: the final answer of a turn."""
    key: str
    """A key that no other event of its kind in the session has, and that is the same at every reading. For a use of a
    tool: the id of the call, which hooks report too, with the id of its record if other calls might have the same
    (``is_unique``). Else: the id of the record, or its ordinal. ``derived_event_id`` makes the event's id of it."""
    body: Body
    """Made by ``wire.hooks.bodies``, as bodies of hooks are."""
    happened_at: datetime | None
    """In UTC; None: at the same time as the event before."""
    folder: str
    """Absolute; empty where it is not known."""
    began_in: str = ""
    """The folder of the first event of the session; ``PastSessions`` sets it."""
    branch: str | None = None
    """The branch that was checked out in the folder, if the history names it."""
    may_go_on: bool = False
    """Whether the history ends here without saying that the turn is over: another answer may follow this one."""


Skipped: TypeAlias = Callable[[str], None]
"""Counts what a reader leaves out, by the reason: a few words for the sort of thing, without any of its content."""


HELD = "databases that another program holds for itself"
"""A reason for leaving sessions or memories out; another import may be able to read them."""


class ImportRecord(Protocol):
    """Which sessions were imported whole, and in which state. It only saves time: losing it loses nothing else."""

    def has(self, key: str, state: str) -> bool:
        """Whether this session was imported in this state."""

    def add(self, key: str, state: str) -> None:
        """Note that this session was imported.

        Raises:
          OSError: the note cannot be kept.
        """


class HistoryReader(Protocol):
    """Past sessions of one source. It writes nothing, and opens no file that holds credentials alone."""

    name: str
    """The reader's name on the command line."""
    title: str
    """The name shown to people."""
    agent: str
    """The name under which the hooks of the same agent report."""

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        """Every session in this place, found by listing, in any order; none if there is no such folder.

        Sessions held by a memory program itself are left out if a name shows that; else they have no events.
        """

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        """The session's events, oldest first, read lazily and with bounded memory.

        No content of a file makes it fail. If a file has grown, the events of an earlier reading come again.

        Raises:
          OSError: the session cannot be read, or is gone.
        """


@attrs.frozen(kw_only=True)
class PastMemory:
    """One memory that another memory program keeps."""

    key: str
    """A key that no other memory of its store has, and that is the same at every reading."""
    project: str
    """The project's folder, or its name where no folder is known; empty if the memory names no project."""
    made_at: datetime | None
    """In UTC."""
    type: str
    """Its type in that program, as ``bugfix``; a name of one of our types of knowledge makes it that type."""
    title: str
    summary: str
    text: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    details: RecordDetails | None = None


class MemoryReader(Protocol):
    """Past memories of another memory program. Rules as in ``HistoryReader``; texts may have any length and hold
    secrets.
    """

    name: str
    title: str

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        """Every store of that program in this place, in the form of a session; none if there is none."""

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        """The memories that still hold in a store, in any order. Raises OSError."""
