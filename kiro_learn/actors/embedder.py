"""Owns the embedding models: the current one, and earlier ones whose vectors still serve projects.

Queries have an inbox of their own, so that no prompt waits for a backlog.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import ActorStopped, EmbeddingError, KiroLearnError, StorageError
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import KnownModel, ModelIdentity, Parts, Vector
from kiro_learn.ports.models import EmbeddingModel
from kiro_learn.ports.storage.answers import Change, ModelSwitched
from kiro_learn.ports.storage.embeddings import EmbeddingReads
from kiro_learn.runtime.admission import PromptPriority
from kiro_learn.runtime.supervisor import Reply, Stop, ask, catch_errors, take_waiting

log = structlog.get_logger()


@attrs.frozen
class EarlierModel:
    """An earlier embedding model, and whether searches can still use its vectors."""

    name: str
    project_count: int
    """Projects that are not wholly embedded with the current model yet."""
    problem: str | None
    """Why these projects are searched by words alone; None if the model could be loaded."""


@attrs.define(eq=False)
class EmbeddingModels:
    """Loads the embedding models, and knows which one serves a project.

    Follows the commits that switch projects to the current model.
    """

    _model: EmbeddingModel
    _storage: EmbeddingReads
    _writer: StorageActor
    _open_model: Callable[[str | None], EmbeddingModel]
    _loaded: dict[ModelIdentity, EmbeddingModel] = attrs.field(factory=dict, init=False)
    _problems: dict[ModelIdentity, str] = attrs.field(factory=dict, init=False)
    _earlier: dict[Namespace, KnownModel] = attrs.field(factory=dict, init=False)

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def current(self) -> ModelIdentity | None:
        """The current model; None until its files are read."""
        return self._model.identity

    @property
    def behind(self) -> tuple[Namespace, ...]:
        """Projects that an earlier model still serves."""
        return tuple(self._earlier)

    @property
    def out_of_reach(self) -> frozenset[Namespace]:
        """Projects whose earlier model cannot be loaded."""
        return frozenset(space for space, known in self._earlier.items() if known.identity not in self._loaded)

    def statistics(self) -> tuple[EarlierModel, ...]:
        counts = Counter(known.identity for known in self._earlier.values())
        return tuple(
            EarlierModel(identity.name, count, self._problems.get(identity)) for identity, count in counts.items()
        )

    async def load(self) -> None:
        """Load the current model, which is adopted, and the earlier ones that can be loaded.

        Raises:
          EmbeddingError: the current model cannot be used.
          StorageError: the models in use could not be read, or the adoption could not be written.
        """
        await self._model.load()
        identity = self._model.identity
        if identity is None:
            raise EmbeddingError(f"the embedding model {self.name} does not say which it is")
        known, in_use = KnownModel(identity, self._model.folder), await self._storage.get_models()
        if in_use.current != known:
            await self._writer.write(lambda transaction: transaction.adopt_model(known))
            log.info("embedding_model.adopted", model=identity.name, dimension=identity.dimension)
            in_use = await self._storage.get_models()
        self._loaded = {identity: self._model}
        self._earlier = dict(in_use.earlier)
        for earlier in set(in_use.earlier.values()):
            await self._load_earlier(earlier)

    async def _load_earlier(self, earlier: KnownModel) -> None:
        """Load an earlier model from its folder, which may be gone or hold another model by now."""
        model = self._open_model(earlier.folder)
        problem = await catch_errors("earlier embedding model", model.load)
        if isinstance(problem, Exception):
            reason = str(problem) if isinstance(problem, KiroLearnError) else type(problem).__name__
        elif model.identity != earlier.identity:
            reason = f"the files in {earlier.folder} are not those of the model {earlier.identity.name} any more"
        else:
            self._loaded[earlier.identity] = model
            return
        self._problems[earlier.identity] = reason
        log.warning("embedding_model.earlier_not_loaded", model=earlier.identity.name, problem=reason)

    def apply(self, change: Change) -> None:
        """Follow a commit: a project that was switched no longer needs its earlier model."""
        if isinstance(change, ModelSwitched) and change.namespace in self._earlier:
            gone = self._earlier.pop(change.namespace).identity
            log.info("embedding_model.switched", namespace=change.namespace, model=change.model.name)
            if all(known.identity != gone for known in self._earlier.values()):
                self._loaded.pop(gone, None)

    def serving(self, namespace: Namespace) -> ModelIdentity:
        """The model whose vectors are searched in this project.

        Raises:
          EmbeddingError: the model cannot be loaded any more.
        """
        earlier = self._earlier.get(namespace)
        if earlier is None:
            return self._known_current()
        if earlier.identity not in self._loaded:
            raise EmbeddingError(
                f"the project's vectors are of {earlier.identity.name}, which is gone; new ones are being made"
            )
        return earlier.identity

    def learning(self, namespace: Namespace) -> ModelIdentity:
        """The model for the project's new records: the one that serves it, or the current one if that is gone."""
        return self._known_current() if namespace in self.out_of_reach else self.serving(namespace)

    def loaded(self, identity: ModelIdentity | None) -> EmbeddingModel:
        """The model with this identity; None is the current one.

        Raises:
          EmbeddingError: the model is not loaded (any more).
        """
        if identity is None:
            return self._model
        if identity not in self._loaded:
            raise EmbeddingError(f"the embedding model {identity.name} is not in use any more")
        return self._loaded[identity]

    def _known_current(self) -> ModelIdentity:
        current = self.current
        if current is None:
            raise EmbeddingError(f"the embedding model {self.name} is not loaded")
        return current


T = TypeVar("T")


LOAD_ATTEMPTS = 3


class EmbedderState(enum.StrEnum):
    """State of the embedder: loading, then ready or failed; disabled from the start if the settings say so."""

    DISABLED = "disabled"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@attrs.frozen(eq=False)
class EmbedQuery:
    """A message to the embedder: the unit vector of one query."""

    text: str
    model: ModelIdentity | None
    reply: Reply[Vector]


@attrs.frozen(eq=False)
class EmbedTexts:
    """A message to the embedder: the vectors of each stored text and of its windows, in the order given."""

    texts: tuple[str, ...]
    model: ModelIdentity | None
    reply: Reply[list[Parts]]


class Embedder:
    """Owns the embedding models. Queries have an inbox of their own; stored texts wait while prompts are waiting."""

    name = "embedder"

    def __init__(
        self, models: EmbeddingModels, *, enabled: bool, prompt_priority: PromptPriority, inbox_size: int = 64
    ) -> None:
        self.models = models
        self._prompt_priority = prompt_priority
        self._query_inbox, self._queries = trio.open_memory_channel[EmbedQuery](inbox_size)
        self._batch_inbox, self._batches = trio.open_memory_channel[EmbedTexts](inbox_size)
        self._settled = trio.Event()
        self._stop_loading = Stop()
        self.state = EmbedderState.LOADING if enabled else EmbedderState.DISABLED
        self.problem: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.state is EmbedderState.READY

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """The model whose vectors are searched in this project.

        Raises:
          EmbeddingError: the models are not ready, or this one cannot be loaded any more.
        """
        if not self.is_ready:
            raise EmbeddingError(f"the embedding model is {self.state}")
        return self.models.serving(namespace)

    async def learning_model(self, namespace: Namespace) -> ModelIdentity:
        """The model to embed the project's new records with; waits until the models are ready.

        Raises:
          EmbeddingError: there is no model.
        """
        await self._wait_ready()
        return self.models.learning(namespace)

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """The unit vector of a query, ahead of all stored texts; by the current model unless another is named.

        Raises:
          EmbeddingError: at once, unless the model is ready; or the model failed.
        """
        if not self.is_ready:
            raise EmbeddingError(f"the embedding model is {self.state}")
        return await ask(self._query_inbox, lambda reply: EmbedQuery(text, model, reply), actor=self.name)

    async def embed_texts(self, texts: Sequence[str], model: ModelIdentity | None = None) -> list[Parts]:
        """The unit vectors of stored texts and of their windows, in the background; waits until the model is ready.

        Raises:
          EmbeddingError: there is no model, or it failed on one of the texts.
        """
        await self._wait_ready()
        return await ask(self._batch_inbox, lambda reply: EmbedTexts(tuple(texts), model, reply), actor=self.name)

    async def embed_passages(self, texts: Sequence[str], model: ModelIdentity | None = None) -> list[Parts]:
        """Like ``embed_texts``, at the lowest priority: each text waits until no prompt is under way.

        One text is sent at a time, so that others can be embedded in between. A record may have 64 passages, and
        passages are half of all that is embedded while the daemon learns.

        Raises:
          EmbeddingError: there is no model, or it failed on one of the texts.
        """
        parts: list[Parts] = []
        for text in texts:
            await self._prompt_priority.wait_without_prompt()
            parts += await self.embed_texts([text], model)
        return parts

    async def _wait_ready(self) -> None:
        await self.wait_settled()
        if not self.is_ready:
            raise EmbeddingError(self.problem or f"the embedding model is {self.state}")

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
        waiting: list[EmbedQuery | EmbedTexts] = [*take_waiting(self._queries), *take_waiting(self._batches)]
        for message in waiting:
            message.reply.refuse(ActorStopped(self.name))

    async def _load(self) -> None:
        if self.state is EmbedderState.LOADING:
            began = trio.current_time()
            with self._stop_loading.ends_block():
                await self._try_to_load()
            duration_ms = math.ceil((trio.current_time() - began) * 1000)
            log.info("embedder.settled", state=self.state, duration_ms=duration_ms)
        self._settled.set()

    async def _try_to_load(self) -> None:
        """Load the models; try again after a crash. If that fails too, the daemon goes on without a model."""
        for _ in range(LOAD_ATTEMPTS):
            problem = await catch_errors(self.name, self.models.load)
            if not isinstance(problem, Exception) or _is_final(problem):
                break
        if isinstance(problem, Exception):
            self.state, self.problem = EmbedderState.FAILED, str(_as_ours(problem))
            log.warning("embedder.load_failed", problem=self.problem)
        else:
            self.state = EmbedderState.READY

    async def _serve_queries(self) -> None:
        async for message in self._queries:
            with message.reply as reply:
                model = self.models.loaded(message.model)
                vectors = await self._with_embedding_error(partial(model.embed, [message.text]))
                reply.answer(vectors[0])

    async def _serve_batches(self) -> None:
        async for message in self._batches:
            with message.reply as reply:
                parts: list[Parts] = []
                model = self.models.loaded(message.model)
                for text in message.texts:
                    await self._prompt_priority.give_way()
                    parts += await self._with_embedding_error(partial(model.embed_parts, [text]))
                reply.answer(parts)

    async def _with_embedding_error(self, embed: Callable[[], Awaitable[T]]) -> T:
        """Raise an unexpected failure of a model as EmbeddingError, so that it fails one message and not the actor."""
        found = await catch_errors(self.name, embed)
        if isinstance(found, Exception):
            raise _as_ours(found)
        return found


def _is_final(problem: Exception) -> bool:
    return isinstance(problem, KiroLearnError) and not isinstance(problem, StorageError)


def _as_ours(error: Exception) -> KiroLearnError:
    if isinstance(error, KiroLearnError):
        return error
    return EmbeddingError(f"the embedding model failed: {type(error).__name__}")
