"""The ports to the home: the folder, the hook requests that could not be delivered when they happened, and what can be
seen and mended of it and its database, whether a daemon runs or not. And those to a project's files and branches.

Every method of an inspection blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

import attrs

from kiro_learn.model.graph import Preference
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.model.profile import ProfileFact, ProjectProfile, WantedFiles
from kiro_learn.model.record import FileState


class Branches(Protocol):
    """Reads which branch is the default one, and which are merged into it. It runs no program, and writes nothing."""

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        """Those of ``names`` that are branches of the repository around ``folder`` today, are not the default one, and
        are not known to be merged into it; none where its files do not say which one that is.

        Cancellation: a file system that does not answer keeps a thread, not the caller.
        """

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        """Those of ``branches`` that the default branch holds, as far as files tell; never one that is not merged.

        Cancellation: as of ``apart``.

        Args:
          branches: since when there is work on each, in UTC.
        """


class HomeFolder(Protocol):
    """One user's folder of kiro_learn."""

    def prepare(self) -> None:
        """Make it and what is needed in it, the hook's program among that; nothing changes where it is there already.

        Raises:
          ConfigError: it cannot be made.
        """

    def contents(self) -> tuple[tuple[str, int], ...]:
        """What of ours is in it, by name, with the bytes that it takes; nothing if there is no home."""

    def remove(self) -> tuple[str, ...]:
        """Remove what of ours is in it, and then the folder, if it is empty; the names of what stayed.

        Raises:
          AlreadyRunning: a daemon uses it.
          ConfigError: something could not be removed.
        """


class UndeliveredHook(Protocol):
    """One request, as ``POST /v1/hooks/{agent}`` would have received it."""

    @property
    def agent(self) -> str:
        """The agent's name, as in the request's path."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's headers; those that begin with ``X-Hook-`` are percent-encoded."""

    @property
    def payload(self) -> bytes:
        """The request's body: what the agent wrote."""


RequestT = TypeVar("RequestT", bound=UndeliveredHook)


class HookSpool(Protocol[RequestT]):
    """Keeps requests until they are taken.

    All methods but ``problems`` look at the disk, and belong off the event loop. None raises for what it finds: what
    cannot be read or removed is named in ``problems``, and the others go on.
    """

    def waiting(self) -> Iterator[RequestT]:
        """Each request that waits, oldest first."""

    def done(self, request: RequestT, /) -> None:
        """Forget a request that was taken."""

    def put_aside(self, request: RequestT, /) -> None:
        """Keep a request that cannot be taken where it does not come again."""

    def problems(self) -> Sequence[str]:
        """What could not be read or removed at the last look, each with the reason."""


@attrs.frozen(kw_only=True)
class SpoolFacts:
    """What hooks could not deliver."""

    waiting_count: int
    oldest: datetime | None
    damaged_count: int
    """Those that could not be read, and never will be."""
    lacks_key: bool
    """Something waits that was sealed with a key that is gone."""
    unreadable: tuple[str, ...] = ()
    """Names, below the home, of what we have no right to read: files that wait, the key, and what was put aside."""
    folders_aside: tuple[Path, ...] = ()
    """Spools of another user, put aside as a daemon started: nothing in them is taken."""


@attrs.frozen(kw_only=True)
class DatabaseFacts:
    """How the database's file is."""

    holds_rows: bool = False
    """Of one with a problem: something of ours can be read in the file, or in its log."""
    link_to: str = ""
    """The file that a symbolic link in its place leads to."""
    problem: str = ""
    """The first damage that was found, in SQLite's words; empty if there is none."""
    obstacle: str = ""
    """Why the file, damaged or not, could not be looked into; empty if it could."""
    damaged_namespaces: tuple[str, ...] = ()
    """Those whose index of words is damaged."""
    is_finished: bool = True
    """False: the time was up before all was looked at."""


class HomeInspection(Protocol):
    """The home folder. Nothing is changed but by ``close_to_others``, ``renew_hook`` and ``renew_token``."""

    @property
    def path(self) -> Path:
        """The home folder, absolute; it may not exist."""

    @property
    def database(self) -> Path:
        """Where the database's file lies, or would."""

    def exists(self) -> bool:
        """Whether the home is there at all, and not just a symbolic link."""

    def links(self) -> Sequence[tuple[str, str]]:
        """Symbolic links in the place of the home, or of folders in it that the daemon needs: the path, and the folder
        that it leads to, empty if to none.
        """

    def is_writable(self) -> bool:
        """Whether this user may create files in it: its disk takes writes, and so does the folder."""

    def open_to_others(self) -> Sequence[str]:
        """Names, below the home, of what other users may read or write; the home itself is ``.``."""

    def of_another_user(self) -> Sequence[str]:
        """Names, below the home, of what the daemon needs and another user owns; the home itself is ``.``."""

    def close_to_others(self) -> None:
        """Take every right from other users.

        Raises:
          ConfigError: the system refused.
        """

    def hook_problem(self) -> str:
        """Why agents' hooks do not work, or are not of this version; empty if they do and are."""

    def hook_build(self) -> str:
        """The build of the program that wrote what agents' hooks run; empty if it does not say."""

    def renew_hook(self) -> None:
        """Write the files that agents' hooks run once more, of this version and with its interpreter.

        Raises:
          ConfigError: the system refused.
        """

    def token_problem(self) -> str:
        """What is wrong with the token's file; empty if nothing is."""

    def renew_token(self) -> None:
        """Make a token where there is none; a daemon that runs knows only the one before.

        Raises:
          ConfigError: the system refused.
        """

    def settings_problems(self) -> Sequence[tuple[str, str]]:
        """What keeps the daemon from starting: each setting with its problem."""

    def missing_agent(self) -> str:
        """The agent's program, where the settings want an agent and the PATH has no such program; else empty."""

    def names_embedding_model(self) -> bool:
        """Whether the settings name an embedding model of the user's own."""

    def port(self) -> int:
        """The daemon's port as the settings say; 0 if they let the system pick one, and where they are wrong."""

    def is_stopped_by_user(self) -> bool:
        """Whether the last command was ``kiro-learn stop``: hooks start no daemon then."""

    def last_end(self) -> str:
        """Why the last daemon ended, if not because it was told to; empty if that is not known."""

    def spool(self) -> SpoolFacts:
        """What hooks could not deliver."""

    def database_bytes(self) -> int:
        """Size of the database with its log, in bytes."""

    def free_bytes(self) -> int:
        """Free space of the disk that the home is on, in bytes."""

    def newest_write(self) -> datetime | None:
        """When the daemon last wrote into its log or its database, in UTC by the clock of that time; None: never."""

    def is_database_gone(self) -> bool:
        """Whether its file is missing, or has nothing in it."""

    def traces_of_database(self) -> Sequence[str]:
        """What shows that this home had a database; empty if nothing does."""

    def may_use_database(self) -> bool:
        """Whether the rights of its file let us read and write it; True where there is none."""

    def makes_backups(self) -> bool:
        """Whether the settings let a copy of the database be made every day."""

    def database_began(self) -> datetime | None:
        """Since when there is a database, as far as that was noted."""


class DatabaseInspection(Protocol):
    """The database's file."""

    def check(self, patience_seconds: float) -> DatabaseFacts:
        """Look for damage, for at most ``patience_seconds``; what was not looked at by then counts as sound.

        It may run beside a daemon, and writes nothing. A missing file has no damage.
        """

    def rebuild_words(self, namespaces: Sequence[str]) -> None:
        """Build the indexes of words of ``namespaces`` again from the memories, while no daemon runs.

        Raises:
          AlreadyRunning: one does.
          StorageError: it could not be done; nothing was changed.
        """


# The ports from a folder to its project, and to a project's files: their times, digests of their contents, and the
# texts of those that say how it is built.


class ProjectFinder(Protocol):
    """The one way from a folder to a namespace, the same for hooks, MCP, CLI and SDK."""

    async def project_of(self, folder: str) -> Project:
        """The project that ``folder`` is in, whichever of its subfolders or worktrees it is.

        Never fails: a folder that cannot be read is its own root.
        """

    async def is_there(self, folder: str) -> bool:
        """Whether there is such a folder; True also where we may not look."""


class ProjectFiles(Protocol):
    """Looks at files in a project's folder; what is in them it tells only of those that say how a project is built."""

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        """When each file was written last, in UTC; None for one that is gone.

        Left out is what cannot be told: what is not inside of ``folder``, is reached through a symbolic link, is no
        regular file or may not be looked at; and everything if the folder itself is not there. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          folder: absolute.
          paths: relative to it, or absolute.
        """

    async def states(self, folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
        """When each file was written last, and the digest of its content; None for one that is gone.

        What is left out, and how it is cancelled, is as with ``modified_ats``. This reads files, so it has a thread of
        its own: one that hangs holds up no prompt. A caller waits for it; set a deadline.
        """

    async def manifests(self, folder: str, wanted: WantedFiles) -> dict[str, str]:
        """The texts of those of the ``wanted`` files that are there, by path; empty where a file is only noticed, or is
        too large to be read. What is left out, and how it is cancelled, is as with ``modified_ats``.
        """


class RuleTexts(Protocol):
    """Reads the rule files that agents load, few and small ones."""

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        """The texts of the files in ``folder``, or in the user's folder if that is None, by their path in it.

        Left out is what is not there, is no regular file, lies outside of the folder behind a link, or is beyond the
        bounds; of a long file, the end. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          patterns: paths in the folder, whose last part may have a ``*``.
        """


class ProfilesOfProjects(Protocol):
    """Says what the files of projects say of them."""

    async def told(self, namespace: Namespace, folder: str | None) -> ProjectProfile:
        """What agents are told of the project that lies in ``folder``; nothing where that is not known. Never fails."""

    async def wishes(self, namespace: Namespace) -> list[Preference]:
        """What people stated that they want in that project, the newest first. Never fails."""

    async def past(self, namespace: Namespace, folder: str) -> list[ProfileFact]:
        """What people stated of that project and ended, the newest end first. Never fails."""
