"""The port to systemd or launchd, which start the daemon with the machine by a file that describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Protocol

import attrs

from kiro_learn.model.settings import ServiceState


@attrs.frozen
class CommandResult:
    """The result of a command of the service manager."""

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
        """The path of the file that describes the service."""

    def definition(self) -> bytes:
        """The content that the file should have, marked by ``model.settings.marked``."""

    def read(self) -> bytes | None:
        """The file's present content; None if there is no file.

        Raises:
          ServiceError: the file cannot be read.
        """

    def write(self, content: bytes) -> None:
        """Write ``content`` to the file in one piece.

        Raises:
          ServiceError: the system refused.
        """

    def remove(self) -> None:
        """Remove the file; a missing file is no error.

        Raises:
          ServiceError: the system refused.
        """

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """The commands to run after the file was written, so that a service in this ``state`` runs as the file says."""

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """The commands to run before the file is removed, so that the service is stopped and forgotten."""

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        """The commands to run after the file was removed."""

    def run(self, command: Sequence[str]) -> CommandResult:
        """Run one of these commands until it ends, or its time is up."""

    def state(self) -> ServiceState:
        """The state of the service."""

    def ends_at_logout(self) -> bool:
        """Whether the service is stopped when its user logs out."""


# The ports to the files and programs of coding agents.


class AgentFiles(Protocol):
    """Reads and writes whole files, each in one piece. Every path is absolute."""

    def read(self, path: PurePosixPath) -> str | None:
        """The file's text; None if there is no file. A symbolic link is followed.

        Raises:
          AgentFileError: it is too large, no regular file, not UTF-8 or a dangling link, or it cannot be read.
        """

    def check(self, path: PurePosixPath) -> None:
        """Raise if ``write`` or ``remove`` cannot be expected to work on this file.

        Raises:
          AgentFileError: the file is read-only, or belongs to another user.
        """

    def folders_to_make(self, path: PurePosixPath) -> tuple[str, ...]:
        """The folders that ``write`` would have to make, the outermost first, as far as can be seen."""

    def remove_leftovers(self, path: PurePosixPath) -> None:
        """Remove the temporary files of a process that was killed while it wrote this file."""

    def write(self, path: PurePosixPath, text: str, *, expected: str | None) -> None:
        """Write ``text`` to the file, in one piece and durably; the mode stays, and so does a link that points to it.

        Raises:
          AgentFileError: the file's text is no longer ``expected``, or it could not be written; nothing changed.
        """

    def remove(self, path: PurePosixPath, *, expected: str) -> None:
        """Remove the file if its text is still ``expected``; a file that is gone is no error.

        Raises:
          AgentFileError: its text is another, or it could not be removed.
        """

    def remove_folder(self, path: PurePosixPath) -> bool:
        """Remove a folder if it is empty. Returns whether it is gone."""

    def names(self, folder: PurePosixPath) -> tuple[str, ...]:
        """The names in a folder, sorted; none if there is no folder."""

    def manifest(self) -> str | None:
        """The text that ``keep_manifest`` was given last."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep other processes from changing the manifest during the block; first wait for one that is changing it.

        Raises:
          AgentFileError: the manifest's folder cannot be locked.
        """

    def keep_manifest(self, text: str | None) -> None:
        """Store the manifest durably; None removes it.

        Raises:
          AgentFileError: it could not be stored.
        """


class AgentPrograms(Protocol):
    """The agents that are installed on this machine."""

    def is_installed(self, programs: Sequence[str], traces: Sequence[PurePosixPath]) -> bool:
        """Whether one of the programs is on the PATH, or one of the traces exists."""

    def versions(self, programs: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
        """The version that each agent's first program on the PATH states, as ``2.4.0``, by agent.

        All are asked at once; one that does not answer in time, or states none, is left out.
        """
