"""What a verb gets: where to print, how to ask, and its surroundings."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeAlias

from kiro_learn.client.address import default_home
from kiro_learn.client.routes import Client
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.terminal import Terminal, terminal_of

if TYPE_CHECKING:
    from kiro_learn.model.settings import Setting
    from kiro_learn.model.statistics import ServerFacts
    from kiro_learn.services.autostart import Autostart
    from kiro_learn.services.copies import Copies
    from kiro_learn.services.doctor import DaemonFacts, Doctor
    from kiro_learn.services.histories import PastMemories, PastSessions
    from kiro_learn.services.installation import Installation
    from kiro_learn.services.notes_export import NotesExport
    from kiro_learn.services.notes_import import KeptMemories, NotesImport
    from kiro_learn.services.sharing import TeamOwner


class Serve(Protocol):
    """The daemon, handed over by ``__main__``."""

    def __call__(self, home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int: ...


OpenInstallation: TypeAlias = "Callable[[Path, Mapping[str, str]], Installation]"
"""Opens the installation into agents; handed over by ``__main__``."""


class Maintenance(Protocol):
    """The use cases that work without a daemon, handed over by ``app``."""

    def open_autostart(self, home: Path, environment: Mapping[str, str]) -> Autostart: ...

    def insist_on_start(self, home: Path, environment: Mapping[str, str], *, port: int | None) -> None: ...

    def open_copies(self, home: Path, environment: Mapping[str, str]) -> Copies: ...
    def open_past_sessions(self, home: Path, environment: Mapping[str, str]) -> PastSessions: ...

    def open_past_memories(
        self, environment: Mapping[str, str], folders: Sequence[Path], repositories: Sequence[Path]
    ) -> PastMemories: ...

    def open_doctor(self, home: Path, environment: Mapping[str, str], daemon: DaemonFacts) -> Doctor: ...

    def look_at_server(self, home: Path, environment: Mapping[str, str]) -> ServerFacts | None: ...

    def move_storage(
        self,
        home: Path,
        environment: Mapping[str, str],
        url: str,
        report: Callable[[str, int, int | None], None],
        *,
        anew: bool,
    ) -> tuple[Mapping[str, int], Path | None]: ...

    def open_team(self, url: str) -> TeamOwner: ...

    def settings_of(self, home: Path, environment: Mapping[str, str], name: str = "") -> Sequence[Setting]: ...

    def set_setting(self, home: Path, environment: Mapping[str, str], name: str, text: str) -> Setting: ...

    def has_notes(self, path: Path) -> bool: ...

    def open_notes_export(self, path: Path, names: Mapping[str, str], *, is_forced: bool) -> NotesExport: ...

    def open_notes_import(self, path: Path, memories: KeptMemories) -> NotesImport: ...

    def new_file(self, path: Path, *, force: bool) -> AbstractContextManager[BinaryIO]:
        """A file for its owner only, which appears when the block ends without an error. Raises OSError."""
        ...


OpenMaintenance: TypeAlias = Callable[[], Maintenance]
"""Returns the use cases; imports what only they need."""


class Failed(KiroLearnError):
    """A verb could not do what was asked; ``exit_code`` says so."""

    def __init__(self, message: str, *, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


class SaidAlready(Failed):
    """Another process failed for us; its output ``said`` has our own form already and is passed on unchanged."""

    def __init__(self, said: Sequence[str]) -> None:
        super().__init__("\n".join(said))
        self.said = tuple(said)


class Shell(NamedTuple):
    """One call of the command: its streams, home and options."""

    environment: Mapping[str, str]
    serve: Serve
    open_installation: OpenInstallation
    open_maintenance: OpenMaintenance
    out: Terminal
    err: Terminal
    as_json: bool = False
    """True with ``--json``: one document is printed, and nothing for people."""

    @property
    def home(self) -> Path:
        return default_home(self.environment)

    def client(self, *, patience_seconds: float = 10.0) -> Client:
        return Client(self.home, patience_seconds=patience_seconds)

    def now(self) -> datetime:
        """The present time, in the zone of this machine."""
        return datetime.now().astimezone()

    def with_colour(self, colour: str) -> Shell:
        return self._replace(
            out=terminal_of(sys.stdout, self.environment, colour=colour),
            err=terminal_of(sys.stderr, self.environment, colour=colour),
        )

    def print(self, lines: Iterable[str]) -> None:
        """Print data on standard output."""
        for line in lines:
            sys.stdout.write(self.out.shown(line) + "\n")
        sys.stdout.flush()

    def print_json(self, value: Any) -> None:
        """Print one JSON document on standard output."""
        sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")
        sys.stdout.flush()

    def answer(self, value: Any, lines: Callable[[], Iterable[str]]) -> None:
        """Print the result: as JSON if that is wanted, else as lines, which are made only then."""
        if self.as_json:
            self.print_json(value)
        else:
            self.print(lines())

    def say(self, lines: Iterable[str]) -> None:
        """Print progress, questions and warnings on standard error."""
        for line in lines:
            sys.stderr.write(self.err.shown(line) + "\n")
        sys.stderr.flush()

    def hint(self, command: str) -> None:
        """Print what to type next, on standard error."""
        self.say([f"{self.err.dim(texts.HINT)}  {self.err.command(command)}"])

    def say_before_asking(self, lines: Iterable[str]) -> None:
        """Print what a question is about. If it cannot be asked, a JSON caller gets only the refusal, on one line."""
        if self.can_ask or not self.as_json:
            self.say(lines)

    @property
    def can_ask(self) -> bool:
        """Whether a question can be read and answered: both streams are terminals."""
        return sys.stdin.isatty() and self.err.is_interactive

    def confirm(self, question: str, *, flag_given: bool, enter_means: bool = False) -> bool:
        """Ask before something is done; ``flag_given``: the answer was given as an option.

        Raises:
          Failed: there is no terminal to ask in, and ``--yes`` was not given.
        """
        if flag_given:
            return True
        if not self.can_ask:
            raise Failed(
                "this command asks first, and there is no terminal to ask in",
                hint="the same command with --yes",
                exit_code=2,
            )
        sys.stderr.write(f"{question} {'[Y/n]' if enter_means else '[y/N]'} ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        # The end of the input is neither a line nor an answer.
        return enter_means if line == "\n" else line.strip().lower() in {"y", "yes"}

    def tilde(self, path: PurePath) -> str:
        """``path`` in the form that people write, with ``~``."""
        home = os.path.expanduser("~")  # noqa: PTH111  # Path.home() raises where there is none
        text = str(path)
        return f"~{text.removeprefix(home)}" if text.startswith(f"{home}/") else text


def shell_for(
    environment: Mapping[str, str], serve: Serve, open_installation: OpenInstallation, open_maintenance: OpenMaintenance
) -> Shell:
    """The shell of this process."""
    out, err = terminal_of(sys.stdout, environment), terminal_of(sys.stderr, environment)
    return Shell(environment, serve, open_installation, open_maintenance, out, err)
