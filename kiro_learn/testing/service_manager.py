"""A service manager that only keeps what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from kiro_learn.model.settings import ServiceState, marked
from kiro_learn.ports.service_manager import CommandResult


@attrs.define
class ScriptedServiceManager:
    """Its file is a value, and its commands are noted; ``fails`` names one that does."""

    body: bytes = b"run the daemon\n"
    content: bytes | None = None
    now: ServiceState = ServiceState.ABSENT
    fails: str = ""
    ran: list[str] = attrs.Factory(list)
    title: str = "scripted"
    path: Path = Path("/services/kiro-learn")

    def definition(self) -> bytes:
        return marked(b"", self.body, opening="# ")

    def read(self) -> bytes | None:
        return self.content

    def write(self, content: bytes) -> None:
        self.content = content

    def remove(self) -> None:
        self.content = None

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        return (("start", state.value),)

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        return (("stop", state.value),)

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        return (("forget",),)

    def run(self, command: Sequence[str]) -> CommandResult:
        self.ran.append(" ".join(command))
        if command[0] == self.fails:
            return CommandResult(1, "first line\nit is broken")
        self.now = {"start": ServiceState.RUNNING, "stop": ServiceState.STOPPED}.get(command[0], ServiceState.ABSENT)
        return CommandResult(0, "")

    def state(self) -> ServiceState:
        return self.now

    def ends_at_logout(self) -> bool:
        return False
