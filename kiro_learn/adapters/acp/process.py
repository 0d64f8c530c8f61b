"""An agent's process: it lives as long as a block, and so does everything it started.

Rules of this file: one task reads each pipe and one writes, so no task waits for a pipe that is never drained; the
reader hands on and never waits for the writer; and the end is shielded, so that no deadline leaves a process behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from kiro_learn.adapters.acp import launcher
from kiro_learn.adapters.acp.groups import noted
from kiro_learn.adapters.acp.launcher import LAUNCH_FAILED
from kiro_learn.errors import AgentNotFound, AgentSpokeNonsense

STDERR_TAIL_BYTES = 4096

UNREAD_MESSAGES = 64
"""What may wait to be written. An agent that asks more without reading is refused: the reader does not wait."""


class AgentProcess:
    """A running agent: lines for its standard input, bytes from its standard output."""

    def __init__(self, process: trio.Process, lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline
        self._outbox, self._mail = trio.open_memory_channel[bytes](UNREAD_MESSAGES)
        self._stderr_tail = bytearray()

    @property
    def returncode(self) -> int | None:
        """How the process ended by itself, or None if it had to be stopped. To be called before the block ends."""
        return self._process.returncode

    def launch_problem(self) -> str:
        """Why the command could not be started; empty if it was, or that is not known yet."""
        if self._process.returncode != LAUNCH_FAILED:
            return ""
        try:
            number = self._lifeline.recv(16)
        except OSError:
            return ""
        return os.strerror(int(number)) if number.isdigit() else ""

    @property
    def stderr_tail(self) -> str:
        """The end of its standard error."""
        return self._stderr_tail.decode("utf-8", "replace")

    def send(self, line: bytes) -> None:
        """Have ``line`` written after those before it.

        Raises:
          AgentSpokeNonsense: it asks for more than it reads.
        """
        try:
            self._outbox.send_nowait(line)
        except trio.WouldBlock as error:
            raise AgentSpokeNonsense("asks for more than it reads") from error

    async def receive(self) -> bytes:
        """The next bytes of its output; empty once it has closed it or ended."""
        assert self._process.stdout is not None
        return bytes(await self._process.stdout.receive_some())

    async def wait_gone(self, *, patience_seconds: float) -> None:
        """Give an agent that hung up the time to end by itself, so that its exit code is its own."""
        with trio.move_on_after(patience_seconds):
            await self._process.wait()

    async def write_all(self) -> None:
        assert self._process.stdin is not None
        # An agent that no longer listens is noticed by the reader: it hangs up, or it is late.
        with contextlib.suppress(trio.BrokenResourceError):
            async for line in self._mail:
                await self._process.stdin.send_all(line)

    async def drain_stderr(self) -> None:
        assert self._process.stderr is not None
        async for piece in self._process.stderr:
            self._stderr_tail += piece
            del self._stderr_tail[:-STDERR_TAIL_BYTES]

    async def end_group_with_leader(self) -> None:
        """Once the agent itself is gone, what it started must not keep its pipes open: we would wait for its words."""
        await self._process.wait()
        _signal_group(self._process.pid, signal.SIGKILL)


@asynccontextmanager
async def open_agent(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], grace_seconds: float
) -> AsyncIterator[AgentProcess]:
    """Run ``command`` for the length of the block, in a process group of its own that is gone when the block ends.

    The block itself should raise nothing of ours, since a nursery would wrap it.

    Raises:
      AgentNotFound: it cannot be started.
    """
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours:
        with theirs:
            process = await _started(command, lifeline=theirs.fileno(), cwd=cwd, environment=environment)
        agent = AgentProcess(process, ours)
        with noted(process.pid, cwd):
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(agent.write_all)
                    nursery.start_soon(agent.drain_stderr)
                    nursery.start_soon(agent.end_group_with_leader)
                    yield agent
                    nursery.cancel_scope.cancel()
            finally:
                await _stopped(process, grace_seconds=grace_seconds)


async def _started(command: Sequence[str], *, lifeline: int, cwd: Path, environment: Mapping[str, str]) -> trio.Process:
    """The launcher, which starts ``command`` and ends it when the other end of ``lifeline`` closes."""
    try:
        return await trio.lowlevel.open_process(
            (sys.executable, "-I", "-S", launcher.__file__, str(lifeline), *command),
            pass_fds=(lifeline,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise AgentNotFound(command[0], error.strerror or type(error).__name__) from error


async def _stopped(process: trio.Process, *, grace_seconds: float) -> None:
    """Ask the group to end, wait ``grace_seconds`` for its leader, and kill what is left of it."""
    with trio.CancelScope(shield=True):
        _signal_group(process.pid, signal.SIGTERM)
        with trio.move_on_after(grace_seconds):
            await process.wait()
        _signal_group(process.pid, signal.SIGKILL)
        await process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            await trio.aclose_forcefully(pipe)


def _signal_group(pid: int, number: signal.Signals) -> None:
    # No such group: all of it has ended. Not permitted: macOS says so of a group of which only zombies are left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
