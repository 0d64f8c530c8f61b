"""Installs the daemon as a service that starts with the machine and restarts on failure; removes it exactly."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from kiro_learn.errors import ServiceError
from kiro_learn.model.settings import FileOrigin, ServiceState, origin_of
from kiro_learn.ports.service_manager import ServiceManager

WELL = frozenset({ServiceState.STARTING, ServiceState.RUNNING})


class FileChange(enum.Enum):
    """What a plan does with the service's file."""

    NONE = "none"
    CREATE = "create"
    REPLACE = "replace"
    REMOVE = "remove"


@attrs.frozen(kw_only=True)
class ServicePlan:
    """The steps of an installation or a removal, in this order."""

    path: Path
    change: FileChange
    content: bytes = b""
    """The new content of the file."""
    before: bytes = b""
    """The present content of the file."""
    first: tuple[Sequence[str], ...] = ()
    """Commands to run before the file is changed."""
    then: tuple[Sequence[str], ...] = ()
    """Commands to run after the change."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.change is FileChange.NONE and not self.first and not self.then


@attrs.frozen(kw_only=True)
class ServiceReport:
    """The state of the service."""

    manager: str
    path: Path
    state: ServiceState
    origin: FileOrigin | None
    """Who wrote the service's file; None if there is none."""
    ends_at_logout: bool


class Autostart:
    """The daemon's service, under the service manager of this machine. Every method blocks."""

    def __init__(self, manager: ServiceManager) -> None:
        self._manager = manager

    @property
    def is_installed(self) -> bool:
        """Whether our service file exists, even if it was edited. Runs no command.

        Raises:
          ServiceError: the file cannot be read.
        """
        found = self._manager.read()
        return found is not None and origin_of(found) is not FileOrigin.FOREIGN

    def report(self) -> ServiceReport:
        """The state of the service, from its manager and its file.

        Raises:
          ServiceError: the file cannot be read.
        """
        found = self._manager.read()
        return ServiceReport(
            manager=self._manager.title,
            path=self._manager.path,
            state=self._manager.state(),
            origin=None if found is None else origin_of(found),
            ends_at_logout=self._manager.ends_at_logout(),
        )

    def plan(self, *, force: bool = False) -> ServicePlan:
        """The steps to install and start the service; none if it is installed and runs.

        Raises:
          ServiceError: a file is there that is not ours, or that was changed and ``force`` is not given.
        """
        found, wanted = self._manager.read(), self._manager.definition()
        state = self._manager.state()
        if found == wanted and state in WELL:
            return ServicePlan(path=self._manager.path, change=FileChange.NONE)
        if found is not None:
            self._require_ours(found, force=force, command="kiro-learn service install --force")
        change = FileChange.CREATE if found is None else FileChange.REPLACE
        return ServicePlan(
            path=self._manager.path,
            change=FileChange.NONE if found == wanted else change,
            content=wanted,
            before=found or b"",
            then=self._manager.start_commands(state),
        )

    def plan_removal(self, *, force: bool = False) -> ServicePlan:
        """The steps to stop the service and remove its file; none if there is no file.

        Raises:
          ServiceError: the file is not ours, or was changed and ``force`` is not given.
        """
        found = self._manager.read()
        if found is None:
            return ServicePlan(path=self._manager.path, change=FileChange.NONE)
        self._require_ours(found, force=force, command="kiro-learn service uninstall --force")
        return ServicePlan(
            path=self._manager.path,
            change=FileChange.REMOVE,
            before=found,
            first=self._manager.stop_commands(self._manager.state()),
            then=self._manager.forget_commands(),
        )

    def carry_out(self, plan: ServicePlan, done: Callable[[str], None]) -> None:
        """Carry out ``plan``; calls ``done`` with each step after it.

        Raises:
          ServiceError: a step failed; the steps before it are done, and repeating them is safe.
        """
        self._run(plan.first, done)
        if plan.change is FileChange.REMOVE:
            self._manager.remove()
            done(f"rm {plan.path}")
        elif plan.change is not FileChange.NONE:
            self._manager.write(plan.content)
            done(f"write {plan.path}")
        self._run(plan.then, done)

    def start(self) -> None:
        """Start the daemon by the installed service file; does nothing if it is starting already.

        Raises:
          ServiceError: the service could not be started.
        """
        state = self._manager.state()
        if state is not ServiceState.STARTING:  # a restart could interrupt an upgrade of the database
            self._run(self._manager.start_commands(state), _ignore)

    def _run(self, commands: tuple[Sequence[str], ...], done: Callable[[str], None]) -> None:
        for command in commands:
            result = self._manager.run(command)
            command_line = " ".join(command)
            if result.exit_code:
                last = result.output.splitlines()[-1:] or [f"exit code {result.exit_code}"]
                raise ServiceError(f"{command_line}: {last[0]}", hint="kiro-learn service status")
            done(command_line)

    def _require_ours(self, found: bytes, *, force: bool, command: str) -> None:
        path = self._manager.path
        match origin_of(found):
            case FileOrigin.FOREIGN:
                raise ServiceError(
                    f"{path} was not written by kiro-learn", hint=shlex.join(["mv", str(path), f"{path}.before"])
                )
            case FileOrigin.EDITED if not force:
                raise ServiceError(f"{path} was changed since it was written", hint=command)
            case _:
                return


def _ignore(_step: str) -> None:
    """Ignore the step."""
