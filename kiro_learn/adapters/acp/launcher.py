"""Runs an agent for as long as the daemon lives. A program of its own, run by its path; it imports nothing of ours.

    python -I -S launcher.py DESCRIPTOR COMMAND ...

The descriptor is one end of a socket whose other end only the daemon holds. When it closes, the daemon is gone, however
it went, and the whole process group is killed with SIGKILL: the agent, what the agent started, and the launcher.

A socket and no PR_SET_PDEATHSIG: that signal reaches the agent alone and not its children, comes when the thread ends
that forked (Trio forks in worker threads, which end when they are idle), and is Linux's only.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys

LAUNCH_FAILED = 127
"""Exit code when the command could not be started; its errno is written to the socket."""

_OF_THE_AGENT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Sent to the group, meant for the agent; the launcher ends when the agent does."""
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(lifeline: int, command: list[str]) -> int:
    """The exit code of ``command``; ends as it did if a signal ended it."""
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
    """The agent alone holds its pipes now: when it closes one, the daemon sees that."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _waited_for(agent: int, lifeline: int, woken: int) -> int:
    """The agent's exit code for its parent; does not return if the daemon ends first."""
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
    """``code``, or an end by the signal that it stands for, without a core of the launcher."""
    if code >= 0:
        return code
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
