"""The only writer. It commits all waiting writes together, so that many writers share one flush to the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import attrs
import trio

from kiro_learn.errors import ActorStopped, KiroLearnError, StorageBusy
from kiro_learn.ports.storage.answers import Change, Committed, Outcome, Refused
from kiro_learn.ports.storage.interface import StorageBackend, Work
from kiro_learn.runtime.supervisor import Reply, ask, take_waiting

T = TypeVar("T")

GATHER_PASSES = 10
"""A batch is committed after so many passes of the event loop without a new write: a request takes eight from its first
byte to its write, most of them in Hypercorn. An idle pass takes some 15 microseconds."""
GATHER_SECONDS = 0.005
"""No write waits longer than this for others to join its batch."""

Listener = Callable[[Change], None]
"""Called with every change of a record after its commit, and before the caller of ``write`` gets its answer."""


@attrs.frozen(eq=False)
class Write:
    """A message to the storage actor: one piece of writing to be committed."""

    work: Work[Any]
    reply: Reply[Any]
    then: Callable[[Any], None] | None


class StorageActor:
    """Owns the right to write: takes all waiting writes and commits them in one transaction."""

    name = "storage actor"

    def __init__(self, storage: StorageBackend, *, batch_count: int, inbox_size: int = 1024) -> None:
        self._storage = storage
        self._batch_count = batch_count
        self._is_lone = True
        self.problem = ""
        """Why the last writes could not be stored, such as an ill disk; empty if they could, or if it was only busy."""
        self._listeners: list[Listener] = []
        self._listeners_to_all: list[Listener] = []
        self._inbox, self._mail = trio.open_memory_channel[Write](inbox_size)

    async def write(self, work: Work[T], *, then: Callable[[T], None] | None = None) -> T:
        """See ``StorageWriter.write``."""
        return await ask(self._inbox, lambda reply: Write(work, reply, then), actor=self.name)

    def subscribe(self, listener: Listener, *, to_others: bool = True) -> None:
        """Let ``listener`` follow every commit from now on; ``to_others``: also those of other daemons on the store."""
        self._listeners.append(listener)
        if to_others:
            self._listeners_to_all.append(listener)

    def note_others(self, changes: Sequence[Change]) -> None:
        """Let listeners follow what another daemon committed."""
        for change in changes:
            for listener in self._listeners_to_all:
                listener(change)

    @property
    def waiting_count(self) -> int:
        return self._inbox.statistics().current_buffer_used

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        async for first in self._mail:
            with ExitStack() as replies:
                writes = await self._gather(first, replies)
                await self._commit(writes)
            self._is_lone = len(writes) == 1 and not self.waiting_count

    def stop(self) -> None:
        self._inbox.close()

    def abandon(self) -> None:
        self._inbox.close()
        for write in take_waiting(self._mail):
            write.reply.refuse(ActorStopped(self.name))

    async def _gather(self, first: Write, replies: ExitStack) -> list[Write]:
        """Collect ``first``, all waiting writes and those about to come; ``replies`` is to close the reply of each.

        Writers that are answered together also write again together. Otherwise half of them run while the other half is
        being committed, and the two threads compete for the interpreter, which costs a quarter more processor time. A
        writer that was alone the last time does not wait.
        """
        until = trio.current_time() + GATHER_SECONDS
        writes: list[Write] = []
        more, passes = [first, *take_waiting(self._mail, self._batch_count - 1)], GATHER_PASSES
        while True:
            writes += more
            for write in more:
                replies.enter_context(write.reply)
            is_alone = self._is_lone and len(writes) == 1
            if is_alone or not passes or len(writes) == self._batch_count or trio.current_time() >= until:
                return writes
            await trio.lowlevel.checkpoint()
            more = take_waiting(self._mail, self._batch_count - len(writes))
            passes = GATHER_PASSES if more else passes - 1

    async def _commit(self, writes: Sequence[Write]) -> None:
        # All writes share one commit; cancelling it must not leave some callers without an answer.
        with trio.CancelScope(shield=True):
            outcomes = await self._transact(writes)
        for write, outcome in zip(writes, outcomes, strict=True):
            self._tell(write, outcome)

    async def _transact(self, writes: Sequence[Write]) -> Sequence[Outcome]:
        try:
            outcomes = await self._storage.transact([write.work for write in writes])
        except KiroLearnError as error:
            if not isinstance(error, StorageBusy):
                self.problem = " \N{MIDDLE DOT} ".join(filter(None, (str(error), error.hint)))
            return [Refused(error)] * len(writes)
        self.problem = ""
        return outcomes

    def _tell(self, write: Write, outcome: Outcome) -> None:
        if isinstance(outcome, Committed):
            for change in outcome.changes:
                for listener in self._listeners:
                    listener(change)
            if write.then is not None:
                write.then(outcome.value)
            write.reply.answer(outcome.value)
        else:
            write.reply.refuse(outcome.error)
