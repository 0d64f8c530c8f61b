"""Reads the indexes and words that prompts need into memory, so that the first prompts after a start are as fast."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import embedded_text
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.query.question import common_words, query_text
from kiro_learn.runtime.actor import Stop
from kiro_learn.runtime.supervisor import catch_errors

log = structlog.get_logger()

TEXT = "warm up"

PAGES_READ = 8
EVENTS_A_PAGE = 25
"""Events read at a time, for the words of their prompts; few, because one of a tool may have megabytes."""

PROJECTS_WITH_WORDS = 3
"""Most recently used projects whose words are looked up: three seconds each with 50,000 memories."""

QUERY_CHARACTERS = 1_000
"""Length of the part of a prompt that is searched for: pasted text below it is left out."""

RECORD_PAGES = 20
RECORDS_A_PAGE = 10
"""Pages of memories whose words are counted, taken at even distances from the project's whole list."""

COMMON_SHARE = 50
"""A word is common if one memory in so many, and at least two, hold it."""

WORDS_A_QUERY = 32
MOST_WORDS = 10 * WORDS_A_QUERY
"""Common words that are looked up."""

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
        current = self._embedder.current_model
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
        if namespace in self._embedder.projects_out_of_reach:
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
        """Does nothing: no caller waits for an answer."""
        self._stop.throw()

    def abandon(self) -> None:
        self._stop.throw()


def _last_used(project: ProjectInfo) -> datetime:
    return project.last_event_at or NEVER
