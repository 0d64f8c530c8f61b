"""What starts the daemon with the machine: systemd or launchd, each with a file that describes our daemon to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Protocol

import attrs

from kiro_learn.model.settings import ServiceState


@attrs.frozen
class CommandResult:
    """What a command of the service manager answered."""

    exit_code: int
    output: str
    """Standard output and standard error together, without surrounding white space."""


class ServiceManager(Protocol):
    """One service of one service manager. Every method blocks."""

    @property
    def title(self) -> str:
        """The manager's name, as in ``systemd``."""

    @property
    def path(self) -> Path:
        """Where the file lies that describes the service."""

    def definition(self) -> bytes:
        """The file's content as it should be, marked by ``model.settings.marked``."""

    def read(self) -> bytes | None:
        """The file's content as it is; None if there is none.

        Raises:
          ServiceError: it cannot be read.
        """

    def write(self, content: bytes) -> None:
        """Put ``content`` into the file in one piece.

        Raises:
          ServiceError: the system refused.
        """

    def remove(self) -> None:
        """Remove the file; one that is not there is no error.

        Raises:
          ServiceError: the system refused.
        """

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """What to run after the file was written, so that the service, now in ``state``, runs as the file says."""

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """What to run before the file is removed, so that the service is stopped and forgotten."""

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        """What to run after the file was removed."""

    def run(self, command: Sequence[str]) -> CommandResult:
        """Run one of these commands to its end, or to its time limit."""

    def state(self) -> ServiceState:
        """How the service is."""

    def ends_at_logout(self) -> bool:
        """Whether the service is stopped when its user logs out."""


# The ports to the files and programs of coding agents.


class AgentFiles(Protocol):
    """Reads and writes whole files, each in one piece. Every path is absolute."""

    def read(self, path: PurePosixPath) -> str | None:
        """The file's text; None if there is no file. A symbolic link is followed.

        Raises:
          AgentFileError: it is too large, no regular file, not UTF-8, a link that leads nowhere, or cannot be read.
        """

    def check(self, path: PurePosixPath) -> None:
        """Do nothing if ``write`` and ``remove`` may be expected to work there.

        Raises:
          AgentFileError: it is read-only, or belongs to another user.
        """

    def folders_to_make(self, path: PurePosixPath) -> tuple[str, ...]:
        """The folders that ``write`` would have to make for the file, the outermost first, as far as can be seen."""

    def remove_leftovers(self, path: PurePosixPath) -> None:
        """Remove what a process that was killed while it wrote the file left beside it."""

    def write(self, path: PurePosixPath, text: str, *, expected: str | None) -> None:
        """Make ``text`` the file's, in one piece and durably; the mode stays, and a link goes on pointing there.

        Raises:
          AgentFileError: its text is not ``expected`` any more, or it could not be written; nothing changed.
        """

    def remove(self, path: PurePosixPath, *, expected: str) -> None:
        """Remove the file if its text is still ``expected``; a file that is gone is no error.

        Raises:
          AgentFileError: it is not, or it could not be removed.
        """

    def remove_folder(self, path: PurePosixPath) -> bool:
        """Remove a folder if it is empty; whether it is gone."""

    def names(self, folder: PurePosixPath) -> tuple[str, ...]:
        """What is in a folder, sorted; nothing if there is none."""

    def manifest(self) -> str | None:
        """The text that ``keep_manifest`` was given last."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep other processes from changing the manifest for the length of the block; wait for one that does.

        Raises:
          AgentFileError: the manifest's folder cannot be locked.
        """

    def keep_manifest(self, text: str | None) -> None:
        """Keep it durably; None removes it.

        Raises:
          AgentFileError: it could not be kept.
        """


class AgentPrograms(Protocol):
    """The agents on this machine."""

    def is_installed(self, programs: Sequence[str], traces: Sequence[PurePosixPath]) -> bool:
        """Whether one of the programs is on the PATH, or one of the traces is there."""

    def versions(self, programs: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
        """The version that each agent's first program on the PATH states, as ``2.4.0``, by agent.

        All are asked at once; one that does not answer in time, or states none, is left out.
        """
