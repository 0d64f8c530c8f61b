"""Stores, in order and once, the requests that hooks spooled while no daemon answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Generic

import attrs
import structlog
import trio

from kiro_learn.errors import KiroLearnError
from kiro_learn.ports.home import HookSpool, RequestT
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.hooks import Hooks

log = structlog.get_logger()

CHUNK_COUNT = 100
"""Requests in memory at a time, and in one commit; each is at most a few hundred kilobytes."""
PROBLEMS_SHOWN = 20


@attrs.frozen
class SpoolStatus:
    """The state of the spool of requests that hooks could not deliver."""

    is_drained: bool
    """Whether all requests that waited when the daemon started were looked at once."""
    problem_count: int
    problems: tuple[str, ...]
    """The first files that cannot be read or removed, each with the reason; all others are taken."""


@attrs.define(eq=False)
class SpoolDrainer(Generic[RequestT]):
    """Stores spooled requests at the start and every ``interval_seconds``, since a busy daemon causes some too."""

    name = "spool drainer"

    _hooks: Hooks
    _hook_spool: HookSpool[RequestT]
    _offload: Offload
    _interval_seconds: float = 30.0
    _is_drained: bool = attrs.field(default=False, init=False)
    _told: Sequence[str] = attrs.field(default=(), init=False)
    _stopped: trio.Event = attrs.field(factory=trio.Event, init=False)

    def status(self) -> SpoolStatus:
        """The state of the spool, without a look at the disk."""
        problems = tuple(self._hook_spool.problems())
        return SpoolStatus(self._is_drained, len(problems), problems[:PROBLEMS_SHOWN])

    async def take_all(self) -> int:
        """Store every request that is spooled now; returns how many.

        A request is removed after it is durable. If one comes twice, both have the same event id, and it is stored
        once. One that meets a defect of ours is put aside, so that it does not hold up the others.

        Raises:
          StorageError: the store failed; requests that were not taken still wait.
        """
        count = 0
        while chunk := await self._offload(lambda: list(islice(self._hook_spool.waiting(), CHUNK_COUNT))):
            if not await self._is_taken(chunk):
                for request in chunk:
                    if not await self._is_taken([request]):
                        await self._offload(partial(self._hook_spool.put_aside, request))
            count += len(chunk)
        return count

    async def _is_taken(self, requests: Sequence[RequestT]) -> bool:
        """Store the requests and remove them from the spool; False: a defect of ours prevented it."""
        outcome = await catch_errors("spooled request", partial(self._hooks.take_all, requests))
        if isinstance(outcome, KiroLearnError):
            raise outcome
        if isinstance(outcome, Exception):
            return False
        await self._offload(partial(self._forget, requests))
        return True

    def _forget(self, requests: Sequence[RequestT]) -> None:
        for request in requests:
            self._hook_spool.done(request)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Drain the spool every ``interval_seconds`` until ``stop``. A failure is logged, and tried again."""
        task_status.started()
        while not self._stopped.is_set():
            try:
                count = await self.take_all()
            except KiroLearnError as error:
                log.warning("hook_spool.drain_failed", problem=str(error))
            else:
                if count:
                    log.info("hook_spool.drained", request_count=count)
            self._is_drained = True
            self._tell_problems()
            with trio.move_on_after(self._interval_seconds):
                await self._stopped.wait()

    def _tell_problems(self) -> None:
        """Log the problems, once until they change."""
        problems = self._hook_spool.problems()
        if problems and problems != self._told:
            log.warning("hook_spool.problems", problem_count=len(problems), problems=list(problems[:PROBLEMS_SHOWN]))
        self._told = problems

    def stop(self) -> None:
        """End after the requests in hand."""
        self._stopped.set()

    abandon = stop  # no caller waits for an answer
