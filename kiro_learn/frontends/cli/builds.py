"""Whether the daemon is of the build that this command is of, and what is to be done where it is not."""

from __future__ import annotations

from kiro_learn.client.address import build_id, build_in_lock
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.model.version import __version__, is_newer


def note(version: str, build: str) -> str:
    """What is to be said of a daemon that names itself so; empty if it is of our build.

    A newer one is not to be restarted by us, since that would bring the old one back.
    """
    if is_newer(version):
        return texts.NEWER_DAEMON.format(version=version, ours=__version__)
    return "" if build == build_id() else texts.ANOTHER_BUILD


def say(shell: Shell) -> None:
    """Say it of the daemon that took this home last, after a command that it answered."""
    said = note(*reversed(build_in_lock(shell.home)))
    if said:
        shell.say([f"{shell.err.mark('warning')} {texts.DAEMON_OF_ANOTHER_BUILD.format(what=said)}"])


def is_of_newer_daemon(shell: Shell) -> bool:
    """Whether the daemon is newer than this command, which then is what has to be updated."""
    return is_newer(build_in_lock(shell.home)[1])
