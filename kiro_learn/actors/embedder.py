"""Owns the embedding model; runs two lanes, so that no prompt waits behind a backlog."""

from __future__ import annotations

import enum
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import attrs
import structlog
import trio

from kiro_learn.actors.mailbox import Reply, ask
from kiro_learn.actors.right_of_way import RightOfWay
from kiro_learn.actors.stopping import Stop
from kiro_learn.actors.supervisor import contain
from kiro_learn.embedding.interface import EmbeddingModel
from kiro_learn.errors import ActorStopped, EmbeddingError, KiroLearnError
from kiro_learn.vectors import Parts, Vector

T = TypeVar("T")

log = structlog.get_logger()

LOAD_ATTEMPTS = 3


class EmbedderState(enum.StrEnum):
    """Loading, then ready or failed; disabled from the start if the settings say so."""

    DISABLED = "disabled"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@attrs.frozen(eq=False)
class EmbedQuery:
    """Ask for the unit vector of one text."""

    text: str
    reply: Reply[Vector]


@attrs.frozen(eq=False)
class EmbedTexts:
    """Ask for the parts of each text, in the order given."""

    texts: tuple[str, ...]
    reply: Reply[list[Parts]]


class Embedder:
    """A lane for the query that an agent waits for, and one for all else, which stands aside for a crowd of prompts."""

    name = "embedder"

    def __init__(self, model: EmbeddingModel, *, enabled: bool, right_of_way: RightOfWay, inbox_size: int = 64) -> None:
        self._model = model
        self._right_of_way = right_of_way
        self._query_inbox, self._queries = trio.open_memory_channel[EmbedQuery](inbox_size)
        self._batch_inbox, self._batches = trio.open_memory_channel[EmbedTexts](inbox_size)
        self._settled = trio.Event()
        self._stop_loading = Stop()
        self.state = EmbedderState.LOADING if enabled else EmbedderState.DISABLED
        self.problem: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.state is EmbedderState.READY

    @property
    def model_name(self) -> str:
        return self._model.name

    async def embed_query(self, text: str) -> Vector:
        """The unit vector of a text that somebody waits for.

        Raises:
          EmbeddingError: at once, unless the model is ready; or the model failed.
        """
        if not self.is_ready:
            raise EmbeddingError(f"the embedding model is {self.state}")
        return await ask(self._query_inbox, lambda reply: EmbedQuery(text, reply), actor=self.name)

    async def embed_texts(self, texts: Sequence[str]) -> list[Parts]:
        """The unit vectors of texts that nobody waits for and of their windows; waits until the model is ready.

        Raises:
          EmbeddingError: there is no model, or it failed on one of the texts.
        """
        await self.wait_settled()
        if not self.is_ready:
            raise EmbeddingError(self.problem or f"the embedding model is {self.state}")
        return await ask(self._batch_inbox, lambda reply: EmbedTexts(tuple(texts), reply), actor=self.name)

    async def wait_settled(self) -> None:
        """Return once it is known whether there is a model."""
        await self._settled.wait()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._load)
            nursery.start_soon(self._serve_queries)
            nursery.start_soon(self._serve_batches)

    def stop(self) -> None:
        self._stop_loading.throw()
        self._query_inbox.close()
        self._batch_inbox.close()

    def abandon(self) -> None:
        self.stop()
        for mail in (self._queries, self._batches):
            while True:
                try:
                    mail.receive_nowait().reply.refuse(ActorStopped(self.name))
                except (trio.WouldBlock, trio.EndOfChannel, trio.ClosedResourceError):
                    break

    async def _load(self) -> None:
        if self.state is EmbedderState.LOADING:
            began = trio.current_time()
            with self._stop_loading.ends_block():
                await self._try_to_load()
            log.info("embedder.settled", state=self.state, duration_ms=_ms_since(began))
        self._settled.set()

    async def _try_to_load(self) -> None:
        """A crash may have been bad luck and is tried again; but no model is worth the daemon's life."""
        for _ in range(LOAD_ATTEMPTS):
            problem = await contain(self.name, self._model.load)
            if not isinstance(problem, Exception) or isinstance(problem, KiroLearnError):
                break
        if isinstance(problem, Exception):
            self.state, self.problem = EmbedderState.FAILED, str(_as_ours(problem))
            log.warning("embedder.load_failed", problem=self.problem)
        else:
            self.state = EmbedderState.READY

    async def _serve_queries(self) -> None:
        async for message in self._queries:
            with message.reply as reply:
                vectors = await self._contained(partial(self._model.embed, [message.text]))
                reply.answer(vectors[0])

    async def _serve_batches(self) -> None:
        async for message in self._batches:
            with message.reply as reply:
                parts: list[Parts] = []
                for text in message.texts:
                    await self._right_of_way.give_way()
                    parts += await self._contained(partial(self._model.embed_parts, [text]))
                reply.answer(parts)

    async def _contained(self, embed: Callable[[], Awaitable[T]]) -> T:
        """A model that fails in a way that nobody foresaw fails one message: it must not end the daemon."""
        found = await contain(self.name, embed)
        if isinstance(found, Exception):
            raise _as_ours(found)
        return found


def _as_ours(error: Exception) -> KiroLearnError:
    if isinstance(error, KiroLearnError):
        return error
    return EmbeddingError(f"the embedding model failed: {type(error).__name__}")


def _ms_since(began: float) -> int:
    return math.ceil((trio.current_time() - began) * 1000)
