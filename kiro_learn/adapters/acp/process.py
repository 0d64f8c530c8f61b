"""Serves the ``Llm`` port by an ACP agent in a child process, and handles the process groups of such agents."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path, PurePath

import attrs
import psutil
import trio

from kiro_learn.adapters.acp import launcher
from kiro_learn.adapters.acp.launcher import LAUNCH_FAILED
from kiro_learn.errors import AgentExited, AgentNotFound, AgentSpokeNonsense, LlmError
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.wire.acp import STARTERS, Conversation
from kiro_learn.wire.acp import program_of as program_of  # noqa: PLC0414  # for the roof, which has no arrow to the wire
from kiro_learn.wire.jsonrpc import MessageReader, encode

# An agent's process: it lives as long as a block, and so does everything it started.
#
# Rules of this file: one task reads each pipe and one writes, so that no task waits for a pipe that is never drained.
# The reader never waits for the writer. The end of the block is shielded, so that no deadline leaves a process running.

STDERR_TAIL_BYTES = 4096

UNREAD_MESSAGES = 64
"""The most lines that may wait to be written. An agent that asks more without reading fails: nobody waits for it."""


class AgentProcess:
    """A running agent: takes lines for its standard input, and gives bytes of its standard output."""

    def __init__(self, process: trio.Process, lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline
        self._outbox, self._mail = trio.open_memory_channel[bytes](UNREAD_MESSAGES)
        self._stderr_tail = bytearray()

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs. Read it before the block ends, which stops the process."""
        return self._process.returncode

    def launch_problem(self) -> str:
        """Why the command could not be started; empty if it was started, or if that is not known yet."""
        if self._process.returncode != LAUNCH_FAILED:
            return ""
        try:
            number = self._lifeline.recv(16)
        except OSError:
            return ""
        return os.strerror(int(number)) if number.isdigit() else ""

    @property
    def stderr_tail(self) -> str:
        """The last STDERR_TAIL_BYTES of its standard error."""
        return self._stderr_tail.decode("utf-8", "replace")

    def send(self, line: bytes) -> None:
        """Have ``line`` written, after the lines that were sent before.

        Raises:
          AgentSpokeNonsense: the agent asks, and does not read the answers.
        """
        try:
            self._outbox.send_nowait(line)
        except trio.WouldBlock as error:
            raise AgentSpokeNonsense("asks for more than it reads") from error

    async def receive(self) -> bytes:
        """The next bytes of the agent's output; empty once the agent has closed its output or ended."""
        assert self._process.stdout is not None
        return bytes(await self._process.stdout.receive_some())

    async def wait_gone(self, *, patience_seconds: float) -> None:
        """Wait until an agent that closed its output has ended, so that its exit code is not that of a kill."""
        with trio.move_on_after(patience_seconds):
            await self._process.wait()

    async def write_all(self) -> None:
        assert self._process.stdin is not None
        # The reader notices that an agent no longer reads: its output ends, or its answer is late.
        with contextlib.suppress(trio.BrokenResourceError):
            async for line in self._mail:
                await self._process.stdin.send_all(line)

    async def drain_stderr(self) -> None:
        assert self._process.stderr is not None
        async for piece in self._process.stderr:
            self._stderr_tail += piece
            del self._stderr_tail[:-STDERR_TAIL_BYTES]

    async def end_group_with_leader(self) -> None:
        """Once the agent is gone, kill its children: one that keeps a pipe open would make us wait for output."""
        await self._process.wait()
        _signal_group(self._process.pid, signal.SIGKILL)


@asynccontextmanager
async def open_agent(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], grace_seconds: float
) -> AsyncIterator[AgentProcess]:
    """Run ``command`` for the length of the block, in a process group of its own that is gone when the block ends.

    The block should raise none of our errors, since a nursery would wrap them.

    Raises:
      AgentNotFound: the launcher cannot be started.
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
    """The launcher's process. It starts ``command``, and kills it when the other end of ``lifeline`` closes."""
    try:
        _make_if_removed(cwd)
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


def _make_if_removed(folder: Path) -> None:
    """Make the agents' folder again: it is empty, so a clean-up may have removed it. Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)


async def _stopped(process: trio.Process, *, grace_seconds: float) -> None:
    """Ask the group to end, wait ``grace_seconds`` for its leader, and kill the rest of the group."""
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
    # No such group: all of it has ended. Not permitted: macOS says so if only zombies of the group are left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


# The process groups of running agents are written down, so that the next start kills those that a crash left.
#
# The launcher ends its group with the daemon. This is for the case that the launcher was killed too.

INTERNAL_MARK = {"KIRO_LEARN_INTERNAL": "1"}
"""An environment variable that tells our hooks to report nothing of the session: the daemon runs it to learn."""


def group_folder(agent_folder: Path) -> Path:
    """The folder that holds an empty file for each group, with the group's number as its name."""
    return agent_folder.with_name("agent-groups")


@contextmanager
def noted(group: int, agent_folder: Path) -> Iterator[None]:
    """Have ``group`` written down for the length of the block. If it cannot be written, the agent runs all the same."""
    folder = group_folder(agent_folder)
    file = folder / str(group)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def end_left_groups(agent_folder: Path) -> int:
    """Kill the groups that are written down and still run; answers their count. The daemon's start calls this.

    The number may belong to another group by now. A group is ours if one of its processes has INTERNAL_MARK: a number
    is not reused while a process of its group lives, so the group's other processes are ours too.
    """
    folder = group_folder(agent_folder)
    files = list(folder.iterdir()) if folder.is_dir() else []
    noted_groups = {int(file.name) for file in files if file.name.isdecimal()}
    left = noted_groups & set(_marked_groups()) if noted_groups else set()
    for group in left:
        _signal_group(group, signal.SIGKILL)
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    return len(left)


def _marked_groups() -> Iterator[int]:
    """The groups of all processes with INTERNAL_MARK whose environment we may read."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if INTERNAL_MARK.items() <= process.environ().items():
                yield os.getpgid(process.pid)


# The ``Llm`` port over an ACP agent: every prompt gets a process and a session of its own.

GRACE_SECONDS = 2.0
"""The time between asking an agent to end and killing it, as in the original kiro-learn."""


@attrs.frozen(kw_only=True)
class AcpLlm:
    """An ``Llm`` that runs ``command`` in ``cwd`` once for every prompt, and keeps no state between two prompts."""

    command: Sequence[str]
    cwd: Path
    """The agent's working folder: absolute, and best empty, since an agent reads the files that it finds there."""
    environment: Mapping[str, str]
    grace_seconds: float = GRACE_SECONDS

    @property
    def strategy(self) -> str:
        return MODEL_STRATEGY

    @property
    def name(self) -> str:
        """The agent's program, without an ``env A=b`` or ``npx -y`` that starts it."""
        return PurePath(program_of(self.command, STARTERS)).name

    async def complete(self, prompt: str) -> str:
        """As the contract says; raises AgentError for failures that only an agent has."""
        conversation = Conversation(prompt, str(self.cwd), self.name)
        problem: LlmError | None = None
        async with open_agent(
            self.command,
            cwd=self.cwd,
            environment={**self.environment, **INTERNAL_MARK},
            grace_seconds=self.grace_seconds,
        ) as agent:
            problem = await _converse(agent, conversation)
            if problem is None and not conversation.is_over:
                await agent.wait_gone(patience_seconds=self.grace_seconds)
            returncode = agent.returncode
            launch_problem = agent.launch_problem()
        if launch_problem:
            raise AgentNotFound(self.command[0], launch_problem)
        if problem is not None:
            raise problem
        answer = conversation.answer()
        if answer is None:
            raise AgentExited(self.name, returncode, agent.stderr_tail)
        return answer


async def _converse(agent: AgentProcess, conversation: Conversation) -> LlmError | None:
    """Talk until the conversation ends or the agent exits; returns why it failed, if it did."""
    reader = MessageReader()
    try:
        agent.send(encode(conversation.begin()))
        while not conversation.is_over and (piece := await agent.receive()):
            for message in reader.feed(piece):
                for reply in conversation.hear(message):
                    agent.send(encode(reply))
    except LlmError as error:
        return error
    return None
