"""A program that runs an agent for as long as the daemon lives. It is run by its path, and imports nothing of ours.

    python -I -S launcher.py DESCRIPTOR COMMAND ...

The descriptor is one end of a socket whose other end only the daemon holds. When the other end closes, the daemon is
gone, and the whole process group is killed with SIGKILL: the agent, its child processes and the launcher.

PR_SET_PDEATHSIG would not do: its signal does not reach the agent's children, it exists only on Linux, and it comes as
soon as the thread ends that forked. Trio forks in worker threads, which end when they are idle.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys

LAUNCH_FAILED = 127
"""The exit code when the command could not be started; the errno is written to the socket."""

_OF_THE_AGENT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals to the group that the launcher ignores: they are meant for the agent, and the launcher ends with it."""
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(lifeline: int, command: list[str]) -> int:
    """Run ``command``; returns its exit code, or ends by the signal that ended it."""
    os.set_inheritable(lifeline, False)
    for number in _OF_THE_AGENT:
        signal.signal(number, signal.SIG_IGN)
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        defaults = (*_OF_THE_AGENT, *_IGNORED_BY_PYTHON)
        agent = os.posix_spawnp(command[0], command, os.environ, setsigdef=defaults)
    except OSError as error:
        os.write(lifeline, str(error.errno).encode())
        return LAUNCH_FAILED
    _let_go_of_pipes()
    return _ended_like(_waited_for(agent, lifeline, woken))


def _let_go_of_pipes() -> None:
    """Close the launcher's copies of the agent's pipes, so that the daemon sees when the agent closes one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _waited_for(agent: int, lifeline: int, woken: int) -> int:
    """The agent's exit code; negative for a signal. Does not return if the daemon ends first."""
    while True:
        pid, status = os.waitpid(agent, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        readable, _, _ = select.select([lifeline, woken], [], [])
        if woken in readable:
            os.read(woken, 4096)
        if lifeline in readable:
            os.killpg(0, signal.SIGKILL)


def _ended_like(code: int) -> int:
    """``code``; a negative one ends the launcher by the signal that it stands for, without a core dump."""
    if code >= 0:
        return code
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
