"""Has the system start the daemon with the machine, and start it again when it fails; and takes that back exactly."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from kiro_learn.errors import ServiceError
from kiro_learn.model.service_mark import FileOrigin, origin_of
from kiro_learn.model.service_state import ServiceState
from kiro_learn.ports.service_manager import ServiceManager

WELL = frozenset({ServiceState.STARTING, ServiceState.RUNNING})


class FileChange(enum.Enum):
    """What becomes of the service's file."""

    NONE = "none"
    CREATE = "create"
    REPLACE = "replace"
    REMOVE = "remove"


@attrs.frozen(kw_only=True)
class ServicePlan:
    """What an installation or a removal will do, in this order."""

    path: Path
    change: FileChange
    content: bytes = b""
    """To be written."""
    before: bytes = b""
    """What is there now."""
    first: tuple[Sequence[str], ...] = ()
    """Commands to run before the file is changed."""
    then: tuple[Sequence[str], ...] = ()
    """Commands to run after it."""

    @property
    def is_empty(self) -> bool:
        """Whether all is as it should be."""
        return self.change is FileChange.NONE and not self.first and not self.then


@attrs.frozen(kw_only=True)
class ServiceReport:
    """How the service is."""

    manager: str
    path: Path
    state: ServiceState
    origin: FileOrigin | None
    """Who wrote its file; None if there is none."""
    ends_at_logout: bool


class Autostart:
    """The daemon's service, with whichever manager this machine has. Every method blocks."""

    def __init__(self, manager: ServiceManager) -> None:
        self._manager = manager

    @property
    def is_installed(self) -> bool:
        """Whether there is a service's file of ours, changed since or not. No command is run.

        Raises:
          ServiceError: the file cannot be read.
        """
        found = self._manager.read()
        return found is not None and origin_of(found) is not FileOrigin.FOREIGN

    def report(self) -> ServiceReport:
        """How the service is, as the manager and its file say.

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
        """What has to be done so that the service is there and runs; nothing if it is and does.

        Raises:
          ServiceError: a file is there that is not ours, or that was changed and ``force`` is not given.
        """
        found, wanted = self._manager.read(), self._manager.definition()
        state = self._manager.state()
        if found == wanted and state in WELL:
            return ServicePlan(path=self._manager.path, change=FileChange.NONE)
        if found is not None:
            self._insist_on_ours(found, force=force, command="kiro-learn service install --force")
        change = FileChange.CREATE if found is None else FileChange.REPLACE
        return ServicePlan(
            path=self._manager.path,
            change=FileChange.NONE if found == wanted else change,
            content=wanted,
            before=found or b"",
            then=self._manager.start_commands(state),
        )

    def plan_removal(self, *, force: bool = False) -> ServicePlan:
        """What has to be done so that the service is stopped and its file gone; nothing if there is none.

        Raises:
          ServiceError: the file is not ours, or was changed and ``force`` is not given.
        """
        found = self._manager.read()
        if found is None:
            return ServicePlan(path=self._manager.path, change=FileChange.NONE)
        self._insist_on_ours(found, force=force, command="kiro-learn service uninstall --force")
        return ServicePlan(
            path=self._manager.path,
            change=FileChange.REMOVE,
            before=found,
            first=self._manager.stop_commands(self._manager.state()),
            then=self._manager.forget_commands(),
        )

    def carry_out(self, plan: ServicePlan, done: Callable[[str], None]) -> None:
        """Do what ``plan`` says; ``done`` is told each step after it.

        Raises:
          ServiceError: a step failed; those before it were done, and doing it all again is safe.
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
        """Have the service manager start the daemon, as the file that is there says; nothing if it does so already.

        Raises:
          ServiceError: it could not.
        """
        state = self._manager.state()
        if state is not ServiceState.STARTING:  # starting it over would break off an upgrade of the database
            self._run(self._manager.start_commands(state), _untold)

    def _run(self, commands: tuple[Sequence[str], ...], done: Callable[[str], None]) -> None:
        for command in commands:
            result = self._manager.run(command)
            said = " ".join(command)
            if result.exit_code:
                last = result.output.splitlines()[-1:] or [f"exit code {result.exit_code}"]
                raise ServiceError(f"{said}: {last[0]}", hint="kiro-learn service status")
            done(said)

    def _insist_on_ours(self, found: bytes, *, force: bool, command: str) -> None:
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


def _untold(_step: str) -> None:
    """Ignore the step."""
