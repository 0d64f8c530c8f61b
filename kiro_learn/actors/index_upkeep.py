"""Keeps indexes ready for prompts: reads them into memory at the start, looks up missed words, rebuilds damaged ones.

So the first prompts after a start are as fast as later ones.
"""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import embedded_text
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.records import WordReads
from kiro_learn.retrieval.query.question import common_words, query_text
from kiro_learn.runtime.supervisor import Stop, catch_errors

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
        """Stop at once, in the middle of the work."""
        self._stop.throw()
        self._inbox.close()

    abandon = stop  # no caller waits for an answer


# Rebuilds damaged word indexes, a few records at a time; until one is complete, searches do without it.

log = structlog.get_logger()

CHUNK_COUNT = 250
"""Records between two commits: some 30 ms, so that no event waits for long."""

QUIET_SECONDS = 30.0
"""How long after a rebuild reports of damage are ignored: they are of earlier searches, or the rebuild failed."""

MOST_PROJECTS = 64
"""The most projects that wait for a rebuild; for any other, the next search reports the damage again."""


@attrs.frozen
class WordIndexStatistics:
    """Indexes of words that were found damaged since the daemon started."""

    damaged: tuple[Namespace, ...]
    """Projects whose index is not rebuilt yet."""
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
        """Rebuild the project's index soon, unless a rebuild is under way: a search found the index damaged."""
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

    abandon = stop  # no caller waits for an answer

    async def _rebuild(self, namespace: Namespace) -> int:
        after: int | None = 0
        commit_count = 0
        while after is not None:
            after = await self._writer.write(partial(_rebuild_chunk, namespace=namespace, after=after))
            commit_count += 1
        return commit_count


def _rebuild_chunk(transaction: StorageTransaction, *, namespace: Namespace, after: int) -> int | None:
    return transaction.rebuild_words(namespace, after=after, most=CHUNK_COUNT)


TEXT = "warm up"

PAGES_READ = 8
EVENTS_A_PAGE = 25
"""Events read at a time, for the words of their prompts; few, because the event of a tool may have megabytes."""

PROJECTS_WITH_WORDS = 3
"""The most recently used projects whose words are looked up: that takes three seconds for 50,000 memories."""

QUERY_CHARACTERS = 1_000
"""Length of the part of a prompt that is searched for: pasted text below it is left out."""

RECORD_PAGES = 20
RECORDS_A_PAGE = 10
"""Pages of memories whose words are counted, taken at even distances from the project's whole list."""

COMMON_SHARE = 50
"""A word is common if at least one memory in 50 holds it, and at least two memories do."""

WORDS_A_QUERY = 32
MOST_WORDS = 10 * WORDS_A_QUERY
"""The most common words that are looked up."""

NEVER = datetime.min.replace(tzinfo=UTC)


class WarmUp:
    """Runs once in the background after the start. A failure is logged and has no other effect."""

    name = "warm-up"

    def __init__(self, storage: StorageBackend, embedder: Embedder, indexes: VectorIndexes) -> None:
        self._storage = storage
        self._embedder = embedder
        self._indexes = indexes
        self._stop = Stop()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        with self._stop.ends_block():
            await self._embedder.wait_settled()
            await catch_errors(self.name, self._read_indexes)

    async def _read_indexes(self) -> None:
        """Embed one text, which also allocates the model's memory, and search for it in the projects used last."""
        current = self._embedder.models.current
        if not self._embedder.is_ready or current is None:
            return
        await self._embedder.embed_query(TEXT)
        projects = sorted(await self._storage.list_projects(), key=_last_used)
        projects = projects[
            self._indexes.too_many((each.memory_count for each in projects), dimension=current.dimension) :
        ]
        for project in projects:
            await self._read_index(project.namespace)
            await self._storage.rank_by_words(SearchParams(project.namespace, TEXT, 1))
        for project in projects[-PROJECTS_WITH_WORDS:]:
            await self._look_up_asked_words(project.namespace)
            await self._look_up_common_words(project.namespace, project.memory_count)
        log.info("warm_up.done", project_count=len(projects))

    async def _read_index(self, namespace: Namespace) -> None:
        if namespace in self._embedder.models.out_of_reach:
            return
        model = self._embedder.serving_model(namespace)
        await self._indexes.rank(namespace, await self._embedder.embed_query(TEXT, model), 1, model=model)

    async def _look_up_asked_words(self, namespace: Namespace) -> None:
        """Look up the words of the last prompts, which the next ones are likely to repeat."""
        cursor: str | None = None
        for _ in range(PAGES_READ):
            page = await self._storage.list_events(namespace=namespace, limit=EVENTS_A_PAGE, cursor=cursor)
            for event in page.items:
                if event.kind is EventKind.PROMPT:
                    text = query_text(event.body)[:QUERY_CHARACTERS]
                    await self._storage.rank_by_words(SearchParams(namespace, text, 1))
            cursor = page.next_cursor
            if cursor is None:
                break

    async def _look_up_common_words(self, namespace: Namespace, record_count: int) -> None:
        """Look up common words: their first lookup takes longest, and nearly every prompt has some of them."""
        texts = await self._some_texts(namespace, record_count)
        words = common_words(texts, least=max(2, len(texts) // COMMON_SHARE), most=MOST_WORDS)
        for first in range(0, len(words), WORDS_A_QUERY):
            group = " ".join(words[first : first + WORDS_A_QUERY])
            await self._storage.rank_by_words(SearchParams(namespace, group, 1))

    async def _some_texts(self, namespace: Namespace, record_count: int) -> list[str]:
        step = max(RECORDS_A_PAGE, record_count // RECORD_PAGES)
        pages = [
            await self._storage.list_memory_records(namespace=namespace, limit=RECORDS_A_PAGE, offset=offset)
            for offset in range(0, record_count, step)
        ]
        return [embedded_text(record) for page in pages for record in page.items]

    def stop(self) -> None:
        """Stop at once, in the middle of the work."""
        self._stop.throw()

    abandon = stop  # no caller waits for an answer


def _last_used(project: ProjectInfo) -> datetime:
    return project.last_event_at or NEVER
