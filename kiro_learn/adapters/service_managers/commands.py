"""Runs the commands of service managers, and writes the files that they read."""

from __future__ import annotations

import shlex
import subprocess
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from kiro_learn.errors import ServiceError
from kiro_learn.ports.service_manager import CommandResult

COMMAND_SECONDS = 60.0
"""The longest time of one command; no command waits until the daemon is ready."""
TIMED_OUT = 124
"""The exit code of timeout(1)."""
NOT_FOUND = 127
"""The exit code of a shell."""
_CONTROLS = frozenset(map(chr, (*range(0x20), 0x7F)))


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> CommandResult:
    """Run ``command`` to its end, at most COMMAND_SECONDS."""
    try:
        ended = subprocess.run(  # noqa: S603  # systemctl or launchctl, with our own arguments
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CommandResult(TIMED_OUT, f"no answer within {COMMAND_SECONDS:.0f} s")
    except OSError as error:
        return CommandResult(NOT_FOUND, error.strerror or "")
    return CommandResult(ended.returncode, ended.stdout.decode("utf-8", "replace").strip())


def checked(word: str) -> str:
    """``word``, after a check that a service's file can hold it.

    Raises:
      ServiceError: it is not UTF-8, or has a control character. systemd would leave out a variable with such a value,
        and the daemon would serve another home; launchd takes no such file, or reads another character.
    """
    if any(each in _CONTROLS or unicodedata.category(each) == "Cs" for each in word):
        raise ServiceError(
            f"no service can be given {word!a}: it has a line end, a control character, or is not UTF-8",
            hint="Give the folder another name, or the environment variable another value.",
        )
    return word


@attrs.frozen(kw_only=True)
class DescribedService:
    """A service, and the file that describes it. Other services have files in the same folder."""

    path: Path
    command: Sequence[str]
    variables: Mapping[str, str]
    """The environment variables that the daemon gets."""
    environment: Mapping[str, str]
    """The environment in which the manager's commands run."""
    write_private: Callable[[Path, bytes], None]
    """Writes a file in one piece, readable by its owner alone."""

    def read(self) -> bytes | None:
        with self._named():
            try:
                return self.path.read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, content: bytes) -> None:
        with self._named():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.write_private(self.path, content)

    def remove(self) -> None:
        with self._named():
            self.path.unlink(missing_ok=True)

    def run(self, command: Sequence[str]) -> CommandResult:
        return run_command(command, self.environment)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            path = str(error.filename or self.path)
            raise ServiceError(f"{path}: {error.strerror}", hint=shlex.join(["ls", "-ld", path])) from error
