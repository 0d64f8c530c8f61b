"""Looks up words that a prompt missed, and rebuilds damaged indexes of words."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.ports.storage.records import WordReads
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


# Rebuilds damaged word indexes, a few records at a time; until one is complete, searches do without it.

log = structlog.get_logger()

CHUNK_COUNT = 250
"""Records between two commits: some 30 ms, so that no event waits for long."""

QUIET_SECONDS = 30.0
"""How long after a rebuild reports of damage are ignored: they are of searches that began before, or it failed."""

MOST_PROJECTS = 64
"""Most projects that wait for a rebuild; the next search of any other reports it again."""


@attrs.frozen
class WordIndexStatistics:
    """Indexes of words that were found damaged since the daemon started."""

    damaged: tuple[Namespace, ...]
    """Not rebuilt yet."""
    rebuilt_count: int
    problem: str | None
    """Why the last rebuild failed, or None."""


class WordIndexRebuilder:
    """Rebuilds damaged word indexes, one project at a time and a few records a commit, so that other writes go on."""

    name = "word index rebuilder"

    def __init__(self, writer: StorageActor) -> None:
        self._writer = writer
        self._inbox, self._mail = trio.open_memory_channel[Namespace](MOST_PROJECTS)
        self._stop = Stop()
        self._damaged: dict[Namespace, None] = {}
        self._quiet_until: dict[Namespace, float] = {}
        self._rebuilt_count = 0
        self._problem: str | None = None

    def note_damage(self, namespace: Namespace) -> None:
        """Rebuild the project's index soon, unless that is under way: a search could not use it."""
        is_under_way = namespace in self._damaged and namespace not in self._quiet_until
        if is_under_way or trio.current_time() < self._quiet_until.get(namespace, -math.inf):
            return
        try:
            self._inbox.send_nowait(namespace)
        except (trio.WouldBlock, trio.ClosedResourceError):
            return
        self._quiet_until.pop(namespace, None)
        self._damaged[namespace] = None

    def statistics(self) -> WordIndexStatistics:
        return WordIndexStatistics(tuple(self._damaged), self._rebuilt_count, self._problem)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            async for namespace in self._mail:
                outcome = await catch_errors(self.name, partial(self._rebuild, namespace))
                self._quiet_until[namespace] = trio.current_time() + QUIET_SECONDS
                if isinstance(outcome, Exception):
                    self._problem = str(outcome) if isinstance(outcome, KiroLearnError) else type(outcome).__name__
                else:
                    self._problem = None
                    self._damaged.pop(namespace, None)
                    self._rebuilt_count += 1
                    log.info("word_index.rebuilt", commit_count=outcome)

    def stop(self) -> None:
        """Stop at once: searches of the next daemon report an unfinished index as damaged again."""
        self._stop.throw()
        self._inbox.close()

    def abandon(self) -> None:
        self.stop()

    async def _rebuild(self, namespace: Namespace) -> int:
        after: int | None = 0
        commit_count = 0
        while after is not None:
            after = await self._writer.write(partial(_rebuild_chunk, namespace=namespace, after=after))
            commit_count += 1
        return commit_count


def _rebuild_chunk(transaction: StorageTransaction, *, namespace: Namespace, after: int) -> int | None:
    return transaction.rebuild_words(namespace, after=after, most=CHUNK_COUNT)
