"""An ACP agent as a process of its own, behind the ``Llm`` port; and which groups of processes such agents are."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path, PurePath

import attrs
import psutil
import trio

from kiro_learn.adapters.acp import launcher
from kiro_learn.adapters.acp.launcher import LAUNCH_FAILED
from kiro_learn.errors import AgentExited, AgentNotFound, AgentSpokeNonsense, LlmError
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.wire.acp import Conversation
from kiro_learn.wire.jsonrpc import MessageReader, encode

# An agent's process: it lives as long as a block, and so does everything it started.
#
# Rules of this file: one task reads each pipe and one writes, so no task waits for a pipe that is never drained;
# the reader hands on and never waits for the writer; and the end is shielded, so that no deadline leaves a process
# behind.

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


# Which process groups of agents are running, written down, so that the next start ends what a crash left.
#
# The launcher ends its group with the daemon; this is for when it could not, because it was killed as well.

INTERNAL_MARK = {"KIRO_LEARN_INTERNAL": "1"}
"""By which our own hooks know a session of ours, and say nothing of it: the daemon would learn from itself."""


def group_folder(agent_folder: Path) -> Path:
    """One empty file a group lies here, named by its number."""
    return agent_folder.with_name("agent-groups")


@contextmanager
def noted(group: int, agent_folder: Path) -> Iterator[None]:
    """Have ``group`` written down for the length of the block. Where that cannot be, the agent runs all the same."""
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
    """Kill what is left of the groups that are written down; answers how many there were. To be called at a start.

    A number may be another group's by now. A group is ours if one of its processes bears our mark: no number is given
    away while a process of its group lives, so all the others are ours too.
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
    """The groups of the processes that bear our mark, as far as we may see."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if INTERNAL_MARK.items() <= process.environ().items():
                yield os.getpgid(process.pid)


# The ``Llm`` port over an ACP agent: every prompt gets a process and a session of its own.

STARTERS = frozenset({"env", "npx"})
"""Programs that start another one."""

_WITH_A_VALUE = frozenset({"-u", "--unset", "-C", "--chdir", "-p", "--package"})
"""Their options that take the next word."""


def program_of(command: Sequence[str], starters: Collection[str]) -> str:
    """The program that ``command`` runs, behind those of the ``starters`` that are before it with their options."""
    is_value = False
    for place, word in enumerate(command):
        is_option = is_value or (place > 0 and (word.startswith("-") or "=" in word))
        is_value = not is_value and word in _WITH_A_VALUE
        if not is_option and PurePath(word).name not in starters:
            return word
    return command[0]


GRACE_SECONDS = 2.0
"""Between asking an agent to end and killing it; the original kiro-learn's."""


@attrs.frozen(kw_only=True)
class AcpLlm:
    """An ``Llm`` that runs ``command`` in ``cwd`` once for every prompt; no state stays from one call to the next."""

    command: Sequence[str]
    cwd: Path
    """Absolute, and best empty: an agent reads what it finds there."""
    environment: Mapping[str, str]
    grace_seconds: float = GRACE_SECONDS

    @property
    def strategy(self) -> str:
        return MODEL_STRATEGY

    @property
    def name(self) -> str:
        """The agent's program; ``env A=b`` and ``npx -y`` before it only start it."""
        return PurePath(program_of(self.command, STARTERS)).name

    async def complete(self, prompt: str) -> str:
        """As the contract says; raises AgentError for what only an agent can do wrong."""
        conversation = Conversation(prompt, str(self.cwd))
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
