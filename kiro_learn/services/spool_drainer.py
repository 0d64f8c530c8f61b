"""Stores, in order and once, the requests that hooks spooled while no daemon answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Generic

import structlog
import trio

from kiro_learn.errors import StorageError
from kiro_learn.ports.hook_spool import HookSpool, RequestT
from kiro_learn.runtime.offload import Offload
from kiro_learn.services.hooks import Hooks

log = structlog.get_logger()

CHUNK_COUNT = 100
"""Requests in memory at a time, and in one commit; each is at most a few hundred kilobytes."""


class SpoolDrainer(Generic[RequestT]):
    """Stores spooled requests at the start and every ``interval_seconds``: a busy daemon causes some, too."""

    name = "spool drainer"

    def __init__(
        self, hooks: Hooks, hook_spool: HookSpool[RequestT], *, offload: Offload, interval_seconds: float = 30.0
    ) -> None:
        self._hooks = hooks
        self._hook_spool = hook_spool
        self._offload = offload
        self._interval_seconds = interval_seconds
        self._stopped = trio.Event()

    async def take_all(self) -> int:
        """Store every request that is spooled now; returns how many.

        A request is forgotten after it is durable. One that comes twice bears the same event id, and is stored once.

        Raises:
          StorageError: the store failed; what was not taken still waits.
        """
        count = 0
        while chunk := await self._offload(lambda: list(islice(self._hook_spool.waiting(), CHUNK_COUNT))):
            await self._hooks.take_all(chunk)
            await self._offload(partial(self._forget, chunk))
            count += len(chunk)
        return count

    def _forget(self, requests: Sequence[RequestT]) -> None:
        for request in requests:
            self._hook_spool.done(request)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Drain the spool every ``interval_seconds`` until ``stop``. A StorageError is logged."""
        task_status.started()
        while not self._stopped.is_set():
            try:
                count = await self.take_all()
            except StorageError as error:
                log.warning("hook_spool.drain_failed", problem=str(error))
            else:
                if count:
                    log.info("hook_spool.drained", request_count=count)
            with trio.move_on_after(self._interval_seconds):
                await self._stopped.wait()

    def stop(self) -> None:
        """End after the requests in hand."""
        self._stopped.set()

    def abandon(self) -> None:
        """The same as ``stop``: no caller waits for an answer."""
        self.stop()
