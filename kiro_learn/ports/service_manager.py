"""What starts the daemon with the machine: systemd or launchd, each with a file that describes our daemon to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
        ...

    @property
    def path(self) -> Path:
        """Where the file lies that describes the service."""
        ...

    def definition(self) -> bytes:
        """The file's content as it should be, with the mark of ``model.service_state``."""
        ...

    def read(self) -> bytes | None:
        """The file's content as it is; None if there is none.

        Raises:
          ServiceError: it cannot be read.
        """
        ...

    def write(self, content: bytes) -> None:
        """Put ``content`` into the file in one piece.

        Raises:
          ServiceError: the system refused.
        """
        ...

    def remove(self) -> None:
        """Remove the file; one that is not there is no error.

        Raises:
          ServiceError: the system refused.
        """
        ...

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """What to run after the file was written, so that the service, now in ``state``, runs as the file says."""
        ...

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """What to run before the file is removed, so that the service is stopped and forgotten."""
        ...

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        """What to run after the file was removed."""
        ...

    def run(self, command: Sequence[str]) -> CommandResult:
        """Run one of these commands to its end, or to its time limit."""
        ...

    def state(self) -> ServiceState:
        """How the service is."""
        ...

    def ends_at_logout(self) -> bool:
        """Whether the service is stopped when its user logs out."""
        ...
