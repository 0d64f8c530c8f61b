"""From arguments to an exit code: what stands around every verb."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiro_learn.client.address import build_id, build_in_lock
from kiro_learn.errors import ConfigError, KiroLearnError
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.front_page import show
from kiro_learn.frontends.cli.shell import (
    Failed,
    OpenInstallation,
    OpenMaintenance,
    SaidAlready,
    Serve,
    Shell,
    shell_for,
)
from kiro_learn.model.version import __version__, is_newer

INTERRUPTED = 130

COMPLETION_VARIABLE = "_KIRO_LEARN_COMPLETE"
"""By which a shell asks what may follow, without arguments; click answers."""

CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})
"""What a full or broken device answers where the output is a file. The verbs name what they read and write."""


def run(
    arguments: Sequence[str], *, serve: Serve, open_installation: OpenInstallation, open_maintenance: OpenMaintenance
) -> int:
    """Do what ``arguments`` ask; answers the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    _open_missing_streams()
    shell = shell_for(os.environ, serve, open_installation, open_maintenance)
    try:
        return _run(arguments, shell)
    except KiroLearnError as error:
        _report(error, shell, as_json="--json" in arguments)
        return error.exit_code if isinstance(error, Failed) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()  # its reader has closed the pipe
        return 1
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        _forget_output()
        _report(Failed(f"cannot write: {os.strerror(error.errno)}"), shell, as_json=False)
        return 1


def _open_missing_streams() -> None:
    """Whoever calls this may have closed them (``>&-``): then nothing is read, and what is written goes nowhere.

    In the order of their numbers, each of which is the lowest that is free, so no other file gets it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  # open until the process ends


def _forget_output() -> None:
    """What is still buffered cannot be written, and must not be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str], shell: Shell) -> int:
    if not arguments and COMPLETION_VARIABLE not in shell.environment:
        show(shell)
        return 0
    from kiro_learn.frontends.cli.app import invoke  # noqa: PLC0415  # click costs half of what the front page may

    return invoke(arguments, shell)


def _report(error: KiroLearnError, shell: Shell, *, as_json: bool) -> None:
    if isinstance(error, SaidAlready):
        shell.say(error.said)
        return
    if as_json:
        shell.say([json.dumps({"error": str(error), "hint": error.hint, "details": _details(error)})])
        return
    lines = [f"{shell.err.error('error:')} {_message(error)}"]
    lines += [f"  {each['path']}: {each['problem']}" for each in _details(error)]
    if error.hint:
        lines.append(f"{shell.err.dim(texts.HINT)}  {shell.err.command(error.hint)}")
    shell.say(lines)


def _message(error: KiroLearnError) -> str:
    if not isinstance(error, ConfigError):
        return str(error)
    wrong = "the home cannot be used" if error.is_of_the_home else "the settings are wrong"
    return f"{wrong}; nothing was started"


def _details(error: KiroLearnError) -> list[dict[str, Any]]:
    """What is wrong where, of errors that name several things."""
    if isinstance(error, ConfigError):
        return [{"path": path, "problem": problem} for path, problem in error.problems]
    return list(getattr(error, "details", ()))


# Whether the daemon is of the build that this command is of, and what is to be done where it is not.


def build_note(version: str, build: str) -> str:
    """What is to be said of a daemon that names itself so; empty if it is of our build.

    A newer one is not to be restarted by us, since that would bring the old one back.
    """
    if is_newer(version):
        return f"it is v{version} and this command v{__version__}, which is to be updated: docs/update.md"
    return "" if build == build_id() else "it was started before this command was installed: kiro-learn restart"


def say_build(shell: Shell) -> None:
    """Say it of the daemon that took this home last, after a command that it answered."""
    said = build_note(*reversed(build_in_lock(shell.home)))
    if said:
        shell.say([f"{shell.err.mark('warning')} The daemon is of another build: {said}"])


def is_of_newer_daemon(shell: Shell) -> bool:
    """Whether the daemon is newer than this command, which then is what has to be updated."""
    return is_newer(build_in_lock(shell.home)[1])
