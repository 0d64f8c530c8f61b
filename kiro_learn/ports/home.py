"""The ports to the home: the folder, the hook requests that could not be delivered when they happened, and the
inspection and repair of the home and its database, whether a daemon runs or not. Also the ports to a project's files
and branches.

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
    """Finds the default branch, and the branches merged into it. It runs no program, and writes nothing."""

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        """Those of ``names`` that are branches of the repository around ``folder`` today, are not its default branch,
        and are not known to be merged into that. None if the repository's files do not name the default branch.

        Cancellation: a file system that does not answer keeps a thread, not the caller.
        """

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        """Those of ``branches`` that are merged into the default branch, as far as files show; never one that is not
        merged.

        Cancellation: as for ``apart``.

        Args:
          branches: when the work on each branch began, in UTC.
        """


class HomeFolder(Protocol):
    """One user's folder of kiro_learn."""

    def prepare(self) -> None:
        """Make the home and all that it needs, such as the hook's program; nothing changes where that exists already.

        Raises:
          ConfigError: it cannot be made.
        """

    def contents(self) -> tuple[tuple[str, int], ...]:
        """Our files and folders in the home, by name, with their bytes; none if there is no home."""

    def remove(self) -> tuple[str, ...]:
        """Remove our files and folders from the home, and then the home itself if it is empty. Returns the names that
        stayed.

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

    All methods but ``problems`` look at the disk, so they must be called off the event loop. None raises because of a
    request: one that cannot be read or removed is named in ``problems``, and the work goes on with the others.
    """

    def waiting(self) -> Iterator[RequestT]:
        """Each waiting request, oldest first."""

    def done(self, request: RequestT, /) -> None:
        """Forget a request that was taken."""

    def put_aside(self, request: RequestT, /) -> None:
        """Move a request that cannot be taken to where it is not listed again."""

    def problems(self) -> Sequence[str]:
        """The requests that could not be read or removed at the last look, each with the reason."""


@attrs.frozen(kw_only=True)
class SpoolFacts:
    """The requests that hooks could not deliver."""

    waiting_count: int
    oldest: datetime | None
    damaged_count: int
    """How many can never be read."""
    lacks_key: bool
    """Whether a request waits that was sealed with a key that is gone."""
    unreadable: tuple[str, ...] = ()
    """Names, below the home, of files that we have no right to read: waiting requests, the key, and requests put
    aside."""
    folders_aside: tuple[Path, ...] = ()
    """Spools of another user that were put aside when a daemon started; nothing in them is taken."""


@attrs.frozen(kw_only=True)
class DatabaseFacts:
    """The state of the database's file."""

    holds_rows: bool = False
    """Whether rows of ours can be read in a file with a problem, or in its log."""
    link_to: str = ""
    """The target, if a symbolic link is in the file's place."""
    problem: str = ""
    """The first damage that was found, as SQLite words it; empty if there is none."""
    obstacle: str = ""
    """Why the file, damaged or not, could not be opened; empty if it could."""
    damaged_namespaces: tuple[str, ...] = ()
    """The namespaces whose index of words is damaged."""
    is_finished: bool = True
    """False: the time was up before all was checked."""


class HomeInspection(Protocol):
    """The home folder. Only ``close_to_others``, ``renew_hook`` and ``renew_token`` change anything."""

    @property
    def path(self) -> Path:
        """The home folder, absolute; it may not exist."""

    @property
    def database(self) -> Path:
        """Where the database's file is, or would be."""

    def exists(self) -> bool:
        """Whether the home exists, and not just a symbolic link in its place."""

    def links(self) -> Sequence[tuple[str, str]]:
        """Symbolic links in the place of the home, or of folders in it that the daemon needs: the path, and the folder
        that it points to; empty if it points to none.
        """

    def is_writable(self) -> bool:
        """Whether this user may create files in the home: both its disk and the folder allow it."""

    def open_to_others(self) -> Sequence[str]:
        """Names, below the home, of files and folders that other users may read or write; the home itself is ``.``."""

    def of_another_user(self) -> Sequence[str]:
        """Names, below the home, of files and folders that the daemon needs and another user owns; the home itself is
        ``.``.
        """

    def close_to_others(self) -> None:
        """Take from other users every right to the home.

        Raises:
          ConfigError: the system refused.
        """

    def hook_problem(self) -> str:
        """Why agents' hooks do not work, or are of another version; empty if neither is so."""

    def hook_build(self) -> str:
        """The build that wrote the hooks' program; empty if that does not name it."""

    def renew_hook(self) -> None:
        """Write the files that agents' hooks run again, for this version and its interpreter.

        Raises:
          ConfigError: the system refused.
        """

    def token_problem(self) -> str:
        """What is wrong with the token's file; empty if nothing."""

    def renew_token(self) -> None:
        """Make a token if there is none; a running daemon knows only the old one.

        Raises:
          ConfigError: the system refused.
        """

    def settings_problems(self) -> Sequence[tuple[str, str]]:
        """The settings that keep the daemon from starting, each with its problem."""

    def missing_agent(self) -> str:
        """The agent's program, if the settings want an agent and no such program is on the PATH; else empty."""

    def names_embedding_model(self) -> bool:
        """Whether the settings name an embedding model of the user's own."""

    def port(self) -> int:
        """The daemon's port by the settings; 0 if they let the system pick one, or are wrong."""

    def is_stopped_by_user(self) -> bool:
        """Whether the last command was ``kiro-learn stop``: hooks start no daemon then."""

    def last_end(self) -> str:
        """Why the last daemon ended, unless by a command; empty if that is not known."""

    def spool(self) -> SpoolFacts:
        """The requests that hooks could not deliver."""

    def database_bytes(self) -> int:
        """Size of the database with its log, in bytes."""

    def free_bytes(self) -> int:
        """Free space of the disk that the home is on, in bytes."""

    def newest_write(self) -> datetime | None:
        """When the daemon last wrote to its log or database, in UTC by the clock of that time; None: never."""

    def is_database_gone(self) -> bool:
        """Whether the database's file is missing or empty."""

    def traces_of_database(self) -> Sequence[str]:
        """Signs that this home had a database; empty if there are none."""

    def may_use_database(self) -> bool:
        """Whether we may read and write the database's file; True if there is none."""

    def makes_backups(self) -> bool:
        """Whether the settings ask for a daily copy of the database."""

    def database_began(self) -> datetime | None:
        """When the database was first made, as far as that was noted."""


class DatabaseInspection(Protocol):
    """The database's file."""

    def check(self, patience_seconds: float) -> DatabaseFacts:
        """Look for damage, for at most ``patience_seconds``; parts not checked by then count as sound.

        A daemon may run meanwhile. Nothing is written. A missing file has no damage.
        """

    def rebuild_words(self, namespaces: Sequence[str]) -> None:
        """Build the indexes of words of ``namespaces`` again from the memories, while no daemon runs.

        Raises:
          AlreadyRunning: a daemon runs.
          StorageError: the indexes could not be built; nothing was changed.
        """


# The ports from a folder to its project, and to a project's files: their times, digests of their contents, and the
# texts of those that say how it is built.


class ProjectFinder(Protocol):
    """The one way to find the namespace of a folder, the same for hooks, MCP, CLI and SDK."""

    async def project_of(self, folder: str) -> Project:
        """The project of ``folder``, which may be any of its subfolders or worktrees.

        Never fails: a folder that cannot be read is its own root.
        """

    async def is_there(self, folder: str) -> bool:
        """Whether the folder exists; True also if we may not look."""


class ProjectFiles(Protocol):
    """Looks at files in a project's folder; it returns contents only of those that say how a project is built."""

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        """When each file was last written, in UTC; None for one that is gone.

        Left out are paths outside of ``folder``, behind a symbolic link, of no regular file, or that we may not look
        at; and all paths if the folder itself does not exist. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          folder: absolute.
          paths: relative to it, or absolute.
        """

    async def states(self, folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
        """When each file was last written, and the digest of its content; None for one that is gone.

        Omissions and cancellation are as in ``modified_ats``. Files are read in a thread of their own, so that a file
        system that hangs holds up no prompt. Only the caller waits, so it should set a deadline.
        """

    async def manifests(self, folder: str, wanted: WantedFiles) -> dict[str, str]:
        """The texts of the ``wanted`` files that exist, by path. The text is empty if only the file's existence
        matters, or if it is too large to be read. Omissions and cancellation are as in ``modified_ats``.
        """


class RuleTexts(Protocol):
    """Reads the rule files that agents load; they are few and small."""

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        """The texts of the files in ``folder`` (None: in the user's folder), by their path in it.

        Left out are paths that do not exist, are no regular file, lead out of the folder by a link, or exceed the
        bounds. A long file is cut at its end. Never fails.

        Cancellation: a file system that does not answer keeps a thread, not the caller.

        Args:
          patterns: paths in the folder, whose last part may have a ``*``.
        """


class ProfilesOfProjects(Protocol):
    """The profiles of projects: what their files say about them, and what people stated."""

    async def told(self, namespace: Namespace, folder: str | None) -> ProjectProfile:
        """The profile of the project in ``folder``, as agents see it; empty if the folder is not known. Never fails."""

    async def wishes(self, namespace: Namespace) -> list[Preference]:
        """The wishes that people stated for that project, the newest first. Never fails."""

    async def past(self, namespace: Namespace, folder: str) -> list[ProfileFact]:
        """The facts that people stated about that project and ended, the newest end first. Never fails."""
