"""Looks up words whose search missed a prompt's deadline, so that the next prompt finds them in the cache."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import trio

from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.words import WordReads
from kiro_learn.runtime.actor import Stop
from kiro_learn.runtime.supervisor import catch_errors

MOST_WAITING = 4


class TermPrefetcher:
    """Looks up the words of interrupted searches, one query at a time, without a deadline; the store caches the result.

    A prompt's own search is interrupted at its deadline. A word that takes longer than that in a very large project
    would otherwise be looked up by every prompt and found by none.
    """

    name = "term prefetcher"

    def __init__(self, storage: WordReads) -> None:
        self._storage = storage
        self._inbox, self._mail = trio.open_memory_channel[SearchParams](MOST_WAITING)
        self._stop = Stop()

    def look_up(self, params: SearchParams) -> None:
        """Look the words up soon; if too many searches wait already, do nothing until a prompt reports them again."""
        with suppress(trio.WouldBlock, trio.ClosedResourceError):
            self._inbox.send_nowait(params)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            async for params in self._mail:
                await catch_errors(self.name, partial(self._storage.rank_by_words, params))

    def stop(self) -> None:
        """Does nothing: no caller waits for an answer."""
        self._stop.throw()
        self._inbox.close()

    def abandon(self) -> None:
        self.stop()
