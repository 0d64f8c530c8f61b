"""``kiro-learn mcp``: the protocol on standard input and output, in a process beside the daemon.

Rules of this file: requests that need no memory are answered at once, without the daemon. The others are sent to the
daemon's ``/mcp``, any number at a time, by one loop over file descriptors. Almost nothing is imported, because an agent
waits for the first answer at every start.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kiro_learn.client import hook
from kiro_learn.client.address import DaemonSilent, DaemonUnreachable, daemon_address_of, default_home
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.mcp.daemon import DaemonCall, DaemonStart, failure
from kiro_learn.wire.jsonrpc import Failure, Id, LineReader, Message, Overlong, decode_value, encode_value, written
from kiro_learn.wire.mcp.protocol import Ask, Cancelled, Conversation, Exchange, Outcome, reply
from kiro_learn.wire.mcp.tools import BY_NAME
from kiro_learn.wire.mcp.versions import INVALID_REQUEST, NOT_JSON

ANSWER_SECONDS = 60.0
"""The time for one call, with a start of the daemon if needed. Forgetting in a large database takes some seconds."""
LAST_SECONDS = 5.0
"""The time for calls that are still under way when the input ends."""
RETRY_SECONDS = 0.1
"""The pause between two attempts to reach a daemon that is just starting."""

MOST_PENDING = 64
"""The most calls under way; while there are as many, no input is read, so that the client waits."""

STDIN, STDOUT = 0, 1
INTERRUPTED, CLIENT_GONE = 130, 1
"""Exit codes, the same for every command."""
_PIECE_BYTES = 65_536
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR

BROKEN = "the daemon ended before it answered; it is unknown whether the call was carried out"
BROKEN_HINT = "Check with search_memory whether it was, and call again if not."
SILENT = "the daemon did not answer in time"


class Place(NamedTuple):
    """Where the client works, as the daemon gets it."""

    project: str | None
    session: str

    @property
    def target(self) -> str:
        project = "" if self.project is None else f"&project={hook.quoted(os.fsencode(self.project))}"
        return f"/mcp?session={hook.quoted(os.fsencode(self.session))}{project}"


def place_of(environment: Mapping[str, str], project: str | None = None) -> Place:
    """The project of the argument, else of ``KIRO_LEARN_PROJECT``, else of the working folder."""
    named = project or environment.get("KIRO_LEARN_PROJECT") or "."
    folder = os.path.expanduser(named)  # noqa: PTH111  # Path.expanduser raises if there is no home
    try:
        found = os.path.realpath(folder) if os.path.isdir(folder) else named  # noqa: PTH112  # as above
    except OSError:
        found = named
    session = environment.get("KIRO_SESSION_ID") or f"mcp-{os.urandom(8).hex()}"
    return Place(project=None if found == "." else found, session=session)


class _Batch:
    """The answers to one batch, which are sent in one array."""

    def __init__(self, open_count: int) -> None:
        self.open_count = open_count
        self.messages: list[Message] = []


class _Pending:
    """An ``Ask`` that is under way."""

    def __init__(self, ask: Ask, batch: _Batch | None, deadline: float) -> None:
        self.ask = ask
        self.batch = batch
        self.deadline = deadline
        self.retry_at: float | None = None
        """When to look for the daemon again; None: it was asked, or is being started."""
        self.call: DaemonCall | None = None
        self.was_broken = False


class StdioServer:
    """Serves one client until its input ends."""

    def __init__(self, home: Path, place: Place, *, start: DaemonStart | None) -> None:
        """``start``: starts the daemon; None: the daemon is not started."""
        self._home = home
        self._place = place
        self._start = start
        self._conversation = Conversation()
        self._lines = LineReader()
        self._pending: list[_Pending] = []
        self._is_open = True

    def run(self) -> int:
        while self._is_open or self._pending:
            readable = self._wait()
            self._look_after(readable)
            if STDIN in readable:
                self._read()
        return 0

    # --- in and out -------------------------------------------------------------------------------------------------

    def _wait(self) -> set[int]:
        """The descriptors that are readable; waits for one, at most until the next thing is due."""
        poll = select.poll()
        if self._is_open and len(self._pending) < MOST_PENDING:
            poll.register(STDIN, _READABLE)
        if self._start is not None and self._start.descriptor is not None:
            poll.register(self._start.descriptor, _READABLE)
        times = []
        for each in self._pending:
            times.append(min(each.deadline, each.retry_at or each.deadline))
            if each.call is not None:
                poll.register(each.call.socket.fileno(), _READABLE)
        timeout_ms = max(0.0, (min(times) - time.monotonic()) * 1000) if times else None
        return {descriptor for descriptor, _event in poll.poll(timeout_ms)}

    def _read(self) -> None:
        piece = os.read(STDIN, _PIECE_BYTES)
        if not piece:
            self._is_open = False
            latest = time.monotonic() + LAST_SECONDS
            for each in self._pending:
                each.deadline = min(each.deadline, latest)
        for line in self._lines.feed(piece or b"\n"):  # the last line may lack its end
            if isinstance(line, Overlong):
                text = f"Invalid Request: a message may have {line.most_bytes} bytes"
                self._write(Failure(None, INVALID_REQUEST, text))
            elif line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            value = decode_value(line)
        except ValueError:
            if self._is_open:  # else it is half a message, and the client waits for no answer
                self._write(NOT_JSON)
            return
        self._conversation, exchange = self._conversation.receive(value)
        self._carry_out(exchange)

    def _carry_out(self, exchange: Exchange) -> None:
        batch = _Batch(len(exchange.outputs)) if exchange.is_batch else None
        for output in exchange.outputs:
            if isinstance(output, Ask):
                pending = _Pending(output, batch, time.monotonic() + ANSWER_SECONDS)
                self._pending.append(pending)
                self._send(pending)
            elif isinstance(output, Cancelled):
                self._cancel(output.id)
                self._settle(None, batch)
            else:
                self._settle(output, batch)

    def _settle(self, message: Message | None, batch: _Batch | None) -> None:
        """Note that an output is known; None: there is no message for it."""
        if batch is None:
            if message is not None:
                self._write(message)
            return
        batch.open_count -= 1
        batch.messages += [] if message is None else [message]
        if batch.open_count == 0 and batch.messages:
            _write_all(encode_value([written(each) for each in batch.messages]))

    def _write(self, message: Message) -> None:
        _write_all(encode_value(written(message)))

    # --- the daemon -------------------------------------------------------------------------------------------------

    def _send(self, pending: _Pending) -> None:
        """Ask the daemon. If none runs, have it started; if one is just starting, try again soon."""
        pending.retry_at = None
        try:
            pending.call = DaemonCall(self._home, self._place.target, pending.ask)
        except (DaemonUnreachable, ConnectionRefusedError):
            if self._start is None or not self._start.begin():
                unreachable = DaemonUnreachable(self._home)
                self._fail(pending, str(unreachable), unreachable.hint)
        except (DaemonSilent, OSError) as error:
            if time.monotonic() >= pending.deadline:
                hint = error.hint if isinstance(error, KiroLearnError) else "kiro-learn status"
                self._fail(pending, str(error), hint)
            else:
                pending.retry_at = time.monotonic() + RETRY_SECONDS

    def _look_after(self, readable: set[int]) -> None:
        """Take answers of the daemon and the result of its start; give up calls whose time is over.

        The readable calls are determined first: a new call may get the number of a descriptor that was readable and has
        been closed since.
        """
        answered = [call for each in self._pending if (call := each.call) and call.socket.fileno() in readable]
        if self._start is not None and self._start.descriptor in readable:
            self._take_start(self._start)
        now = time.monotonic()
        for each in tuple(self._pending):
            if each.call is not None and each.call in answered:
                self._receive(each, each.call)
            elif each.retry_at is not None and now >= each.retry_at:
                self._send(each)
            elif now >= each.deadline:
                self._fail(each, SILENT, "kiro-learn status")

    def _take_start(self, start: DaemonStart) -> None:
        started = start.take()
        if started is None:
            return
        # Another client may have started a daemon at the same time.
        is_there = not started.text or self._has_daemon()
        for each in tuple(self._pending):
            if each.call is None and each.retry_at is None:
                if is_there:
                    self._send(each)
                else:
                    self._fail(each, started.text, started.hint)

    def _has_daemon(self) -> bool:
        try:
            daemon_address_of(self._home)
        except DaemonUnreachable:
            return False
        except DaemonSilent:
            pass
        return True

    def _receive(self, pending: _Pending, call: DaemonCall) -> None:
        try:
            outcome = call.receive()
        except (OSError, ValueError):
            call.close()
            pending.call = None
            if pending.was_broken or not _may_be_repeated(pending.ask):
                self._fail(pending, BROKEN, BROKEN_HINT)
                return
            pending.was_broken = True
            self._send(pending)
            return
        if outcome is not None:
            self._finish(pending, outcome)

    def _fail(self, pending: _Pending, text: str, hint: str) -> None:
        self._finish(pending, failure(pending.ask, text, hint))

    def _finish(self, pending: _Pending, outcome: Outcome) -> None:
        self._drop(pending)
        self._settle(reply(pending.ask, outcome), pending.batch)

    def _cancel(self, number: Id) -> None:
        """Drop the asks with this id: the daemon carries them out, but the client gets no answer."""
        for each in tuple(self._pending):
            if each.ask.id == number:
                self._drop(each)
                self._settle(None, each.batch)

    def _drop(self, pending: _Pending) -> None:
        self._pending.remove(pending)
        if pending.call is not None:
            pending.call.close()


def _may_be_repeated(ask: Ask) -> bool:
    """Whether repeating the ask does no more than asking once."""
    return ask.method != "tools/call" or BY_NAME[ask.params["name"]].is_read_only


def _write_all(message: bytes) -> None:
    rest = memoryview(message + b"\n")
    while rest:
        try:
            rest = rest[os.write(STDOUT, rest) :]
        except BlockingIOError:  # the client made its end of a shared pipe non-blocking, and it is full
            writable = select.poll()
            writable.register(STDOUT, select.POLLOUT)
            writable.poll()


def run(environment: Mapping[str, str]) -> int:
    """``kiro-learn mcp`` without options, by the shortest way."""
    try:
        return serve(default_home(environment), environment)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return CLIENT_GONE


def serve(home: Path, environment: Mapping[str, str], *, project: str | None = None, starts_daemon: bool = True) -> int:
    """Serve until the input ends; returns the exit code.

    Raises:
      BrokenPipeError: the client is gone.
    """
    for stream in (sys.stdin, sys.stdout):
        if stream is None:
            return 1
    start = DaemonStart(home, environment) if starts_daemon else None
    return StdioServer(home, place_of(environment, project), start=start).run()
