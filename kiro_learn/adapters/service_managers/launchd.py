"""The daemon as a launch agent of macOS."""

from __future__ import annotations

import os
import plistlib
from collections.abc import Sequence
from pathlib import Path

import attrs

from kiro_learn.adapters.service_managers.commands import DescribedService, checked
from kiro_learn.model.settings import ServiceState, marked

THROTTLE_SECONDS = 10
"""The shortest time between two starts."""
EXIT_SECONDS = 15
"""The time between SIGTERM and SIGKILL."""
UMASK = 0o077
_HEAD_LINES = 2
"""The XML declaration and the document type; our mark is a comment after them."""


@attrs.frozen(kw_only=True)
class LaunchAgent(DescribedService):
    """A launch agent of the current user. Its label is the name of its file."""

    title = "launchd"
    output: Path
    """The file for what the daemon prints before its log is open."""

    def definition(self) -> bytes:
        output = checked(str(self.output))
        properties = {
            "Label": self.path.stem,
            "ProgramArguments": [checked(word) for word in self.command],
            "EnvironmentVariables": {name: checked(value) for name, value in self.variables.items()},
            "WorkingDirectory": "/",
            "RunAtLoad": True,
            # Started again unless it exits with 0, as it does when it is asked to stop.
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": THROTTLE_SECONDS,
            "ExitTimeOut": EXIT_SECONDS,
            "Umask": UMASK,
            "StandardOutPath": output,
            "StandardErrorPath": output,
        }
        lines = plistlib.dumps(properties).splitlines(keepends=True)
        head, rest = b"".join(lines[:_HEAD_LINES]), b"".join(lines[_HEAD_LINES:])
        return marked(head, rest, opening="<!-- ", closing=" -->")

    def write(self, content: bytes) -> None:
        self.output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().write(content)

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """launchd reads the file only when the service is loaded, so a loaded service is unloaded first."""
        return (*self.stop_commands(state), ("launchctl", "bootstrap", self._domain, str(self.path)))

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """No commands for a service that is not loaded: launchd refuses to unload it."""
        return (
            () if state in {ServiceState.ABSENT, ServiceState.UNLOADED} else (("launchctl", "bootout", self._target),)
        )

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        return ()

    def state(self) -> ServiceState:
        known = self.run(("launchctl", "print", self._target))
        if known.exit_code:
            return ServiceState.ABSENT if self.read() is None else ServiceState.UNLOADED
        facts = dict(line.strip().partition(" = ")[::2] for line in known.output.splitlines())
        if facts.get("state") == "running":
            return ServiceState.RUNNING
        return ServiceState.STOPPED if facts.get("last exit code") == "0" else ServiceState.FAILED

    def ends_at_logout(self) -> bool:
        """False, though every launch agent ends at logout: there is no setting for it."""
        return False

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}"

    @property
    def _target(self) -> str:
        return f"{self._domain}/{self.path.stem}"
