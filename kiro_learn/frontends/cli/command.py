"""From arguments to an exit code: what stands around every verb."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

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

INTERRUPTED = 130


def run(
    arguments: Sequence[str], *, serve: Serve, open_installation: OpenInstallation, open_maintenance: OpenMaintenance
) -> int:
    """Do what ``arguments`` ask; answers the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    shell = shell_for(os.environ, serve, open_installation, open_maintenance)
    try:
        return _run(arguments, shell)
    except KiroLearnError as error:
        _report(error, shell, as_json="--json" in arguments)
        return error.exit_code if isinstance(error, Failed) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe; what is still buffered must not be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(arguments: Sequence[str], shell: Shell) -> int:
    if not arguments:
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
    lines = [f"{shell.err.error(texts.ERROR)} {_message(error)}"]
    lines += [f"  {each['path']}: {each['problem']}" for each in _details(error)]
    if error.hint:
        lines.append(f"{shell.err.dim(texts.HINT)}  {shell.err.command(error.hint)}")
    shell.say(lines)


def _message(error: KiroLearnError) -> str:
    if not isinstance(error, ConfigError):
        return str(error)
    return texts.WRONG_HOME if error.is_of_the_home else texts.WRONG_SETTINGS


def _details(error: KiroLearnError) -> list[dict[str, Any]]:
    """What is wrong where, of errors that name several things."""
    if isinstance(error, ConfigError):
        return [{"path": path, "problem": problem} for path, problem in error.problems]
    return list(getattr(error, "details", ()))
