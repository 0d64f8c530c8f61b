"""The machine of the tests: agents' files in memory, installed agents as a test names them, and a service manager that
only keeps what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath

import attrs

from kiro_learn.errors import AgentFileError
from kiro_learn.model.settings import ServiceState, marked
from kiro_learn.ports.service_manager import CommandResult
from kiro_learn.services.installation import Installation

USER = PurePosixPath("/home/ada")
HOOK = "/home/ada/.kiro-learn/bin/hook"


@attrs.define
class InMemoryAgentFiles:
    """``AgentFiles`` in a dict of texts by path. Folders exist if a file is in them or if they were made."""

    texts: dict[str, str] = attrs.field(factory=dict)
    folders: set[str] = attrs.field(factory=set)
    """Folders that were made."""
    refused: set[str] = attrs.field(factory=set)
    """Paths that cannot be written."""
    kept_manifest: str | None = None

    def read(self, path: PurePosixPath) -> str | None:
        return self.texts.get(str(path))

    def check(self, path: PurePosixPath) -> None:
        pass

    def folders_to_make(self, path: PurePosixPath) -> tuple[str, ...]:
        return tuple(str(each) for each in reversed(path.parents) if not self._is_folder(each))

    def remove_leftovers(self, path: PurePosixPath) -> None:
        """Does nothing: no leftovers exist in memory."""

    def write(self, path: PurePosixPath, text: str, *, expected: str | None) -> None:
        self._expect(path, expected)
        self.folders |= set(self.folders_to_make(path))
        self.texts[str(path)] = text

    def remove(self, path: PurePosixPath, *, expected: str) -> None:
        self._expect(path, expected)
        self.texts.pop(str(path), None)

    def remove_folder(self, path: PurePosixPath) -> bool:
        is_used = any(str(path) + "/" in text for text in (*self.texts, *self.folders))
        if not is_used:
            self.folders.discard(str(path))
        return not is_used

    def names(self, folder: PurePosixPath) -> tuple[str, ...]:
        inside = (
            path.removeprefix(f"{folder}/") for path in (*self.texts, *self.folders) if path.startswith(f"{folder}/")
        )
        return tuple(sorted({path.partition("/")[0] for path in inside}))

    def manifest(self) -> str | None:
        return self.kept_manifest

    def exclusive(self) -> AbstractContextManager[None]:
        return nullcontext()

    def keep_manifest(self, text: str | None) -> None:
        self.kept_manifest = text

    def _expect(self, path: PurePosixPath, expected: str | None) -> None:
        if str(path) in self.refused:
            raise AgentFileError(path, "cannot be written")
        if self.texts.get(str(path)) != expected:
            raise AgentFileError(path, "was changed by another program meanwhile")

    def _is_folder(self, path: PurePosixPath) -> bool:
        folders = {str(parent) for each in self.texts for parent in PurePosixPath(each).parents}
        return str(path) in folders | self.folders | {"/", "/home", str(USER)}


@attrs.frozen
class NamedPrograms:
    """The programs that a test names, with their versions."""

    found: Mapping[str, str]

    def is_installed(self, programs: Sequence[str], traces: Sequence[PurePosixPath]) -> bool:  # noqa: ARG002  # the port's signature
        return any(name in self.found for name in programs)

    def versions(self, programs: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
        first = {agent: next((name for name in names if name in self.found), "") for agent, names in programs.items()}
        return {agent: self.found[name] for agent, name in first.items() if self.found.get(name)}


@attrs.define
class NoHomeFolder:
    """A ``HomeFolder`` that only notes that it was made or removed."""

    is_there: bool = False

    def prepare(self) -> None:
        self.is_there = True

    def contents(self) -> tuple[tuple[str, int], ...]:
        return (("token", 44),) if self.is_there else ()

    def remove(self) -> tuple[str, ...]:
        self.is_there = False
        return ()


def installation_of(
    files: InMemoryAgentFiles,
    programs: Mapping[str, str] | None = None,
    *,
    hook: str = HOOK,
    mcp: tuple[str, ...] = (),
    mcp_environment: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Installation:
    """An installation into ``files``, for Ada."""
    return Installation(
        files,
        NamedPrograms(programs or {}),
        NoHomeFolder(),
        hook=hook,
        mcp=mcp,
        mcp_environment=mcp_environment or {},
        user=USER,
        environment=environment or {},
    )


@attrs.define
class ScriptedServiceManager:
    """A ``ServiceManager`` with its file in memory. Commands are only noted; the one named by ``fails`` fails."""

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
