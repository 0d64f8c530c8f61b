"""From arguments to an exit code: what is done around every verb."""

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
"""The variable with which a shell asks, without arguments, what may follow; click answers."""

CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})
"""The errors of a full or broken device if the output is a file. Verbs name the files that they read and write."""


WRONG_VALUES = "validation failed"
"""As the API words it, for programs; people are told which value, by the name that the help has for it."""


def run(
    arguments: Sequence[str], *, serve: Serve, open_installation: OpenInstallation, open_maintenance: OpenMaintenance
) -> int:
    """Do what ``arguments`` ask; returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
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
    except FileNotFoundError:
        if not _has_lost_its_folder():
            raise
        gone = Failed("the current folder is gone", hint="cd to one that is there, and give the same command again")
        _report(gone, shell, as_json="--json" in arguments)
        return 1
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        _forget_output()
        _report(Failed(f"cannot write: {os.strerror(error.errno)}"), shell, as_json=False)
        return 1


def _has_lost_its_folder() -> bool:
    """Whether the folder that we were called in was removed, as that of a worktree is."""
    try:
        os.getcwd()  # noqa: PTH109  # the same, without a Path
    except FileNotFoundError:
        return True
    return False


def _open_missing_streams() -> None:
    """Open the standard streams that the caller closed (``>&-``): nothing is read, and output goes nowhere.

    They are opened in the order of their numbers: each gets the lowest free one, so no other file gets it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  # open until the process ends


def _forget_output() -> None:
    """Drop buffered output, which cannot be written and must not be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str], shell: Shell) -> int:
    if not arguments and COMPLETION_VARIABLE not in shell.environment:
        show(shell)
        return 0
    from kiro_learn.frontends.cli.app import invoke  # noqa: PLC0415  # click takes half the time of the front page

    return invoke(arguments, shell)


def _report(error: KiroLearnError, shell: Shell, *, as_json: bool) -> None:
    if isinstance(error, SaidAlready):
        shell.say(error.said)
        return
    if as_json:
        shell.say([json.dumps({"error": str(error), "hint": error.hint, "details": _details(error)})])
        return
    problems = [f"{each['path'].removeprefix('$.')}: {each['problem']}" for each in _details(error)]
    is_one_value = len(problems) == 1 and str(error) == WRONG_VALUES
    lines = [f"{shell.err.error('error:')} {problems.pop() if is_one_value else _message(error)}"]
    lines += [f"  {each}" for each in problems]
    if error.hint:
        lines.append(f"{shell.err.dim(texts.HINT)}  {shell.err.command(error.hint)}")
    shell.say(lines)


def _message(error: KiroLearnError) -> str:
    if not isinstance(error, ConfigError):
        return "some values are wrong" if str(error) == WRONG_VALUES else str(error)
    wrong = "the home cannot be used" if error.is_of_the_home else "the settings are wrong"
    return f"{wrong}; nothing was started"


def _details(error: KiroLearnError) -> list[dict[str, Any]]:
    """The places and problems of errors that name several."""
    if isinstance(error, ConfigError):
        return [{"path": path, "problem": problem} for path, problem in error.problems]
    return list(getattr(error, "details", ()))


# Whether the daemon has the same build as this command, and what to do if not.


def build_note(version: str, build: str) -> str:
    """What to say of a daemon with this version and build; empty if the build is ours.

    A newer daemon must not be restarted by us, since that would bring the old version back.
    """
    if is_newer(version):
        return f"it is v{version} and this command v{__version__}, which must be updated: docs/update.md"
    return "" if build == build_id() else "it was started before this command was installed: kiro-learn restart"


def say_build(shell: Shell) -> None:
    """Warn if the daemon that last took this home has another build, after a command that it answered."""
    said = build_note(*reversed(build_in_lock(shell.home)))
    if said:
        shell.say([f"{shell.err.mark('warning')} The daemon is of another build: {said}"])


def is_of_newer_daemon(shell: Shell) -> bool:
    """Whether the daemon is newer than this command, so that this command has to be updated."""
    return is_newer(build_in_lock(shell.home)[1])
