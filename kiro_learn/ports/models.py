"""The contracts of models: an embedding model, and a model that answers a prompt with text; and the choice of the model
for a project.

The learner's contract is here too: it turns a batch of events into drafts of memories. So are the port to the actor
that owns the embedding models, and the port for multiplying coded vectors faster than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, GraphDrafts, RecordDraft
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import LlmCall
from kiro_learn.model.vectors import CodeProduct, Matrix, ModelIdentity, Parts, Vector


class EmbeddingModel(Protocol):
    """Turns texts into unit vectors, deterministically, off the event loop."""

    @property
    def name(self) -> str:
        """The model's name for people."""

    @property
    def folder(self) -> str | None:
        """The folder with its files; None for the bundled model."""

    @property
    def identity(self) -> ModelIdentity | None:
        """Which model it is; None until it is loaded, unless that is known earlier."""

    async def load(self) -> None:
        """Get ready to embed. May take a second; another call does nothing.

        Raises:
          ModelMissing: the model's file is absent or is not the one that was shipped.
          EmbeddingError: the folder holds no model that can be used.
        """

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per query, in the order given; (len(texts), dimension) float32.

        A text's vector does not depend on the other texts. Calls may overlap. Only the first tokens of a text count, as
        many as the model reads at once: 256 with the bundled model.

        Cancellation: the caller goes on at once; the work under way is finished and dropped.

        Raises:
          EmbeddingError: the model failed.
        """

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """The vectors of each stored text, in the order given: one row for each window of the text.

        A window is as much text as the model reads at once. Windows overlap by 32 tokens. A text has at most 16
        windows; the rest of it does not count. A text that fits into one window has one row. A model may read stored
        texts differently from queries; if it does not, the first row is the vector that ``embed`` gives. All else is as
        in ``embed``.
        """


class TextEmbedder(Protocol):
    """Embeds texts to be stored."""

    @property
    def is_ready(self) -> bool:
        """Whether a model is loaded, so that embedding begins at once."""

    async def learning_model(self, namespace: Namespace) -> ModelIdentity:
        """The model to embed the project's new records with; waits until the models are ready.

        Raises:
          EmbeddingError: there is no model.
        """

    async def embed_texts(self, texts: Sequence[str], model: ModelIdentity | None = None) -> list[Parts]:
        """The unit vectors of stored texts and of their windows, in the background; waits until the model is ready.

        Raises:
          EmbeddingError: there is no model, or it failed on one of the texts.
        """


class QueryEmbedder(Protocol):
    """Embeds queries of searches."""

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """The model whose vectors a search of the project compares.

        Raises:
          EmbeddingError: the models are not ready, or the serving one is gone.
        """

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """The unit vector of a query, made before any waiting stored texts; by the current model unless another is
        named.

        Raises:
          EmbeddingError: the model is not ready (raised at once), or it failed.
        """


class CodeMultiplier(CodeProduct, Protocol):
    """``CodeProduct`` as a port, so that the wiring can choose an adapter."""


TOO_SLOW = "the learner took too long"


@runtime_checkable
class Llm(Protocol):
    """A model, or a program, that answers a prompt with text. The deadline is the caller's cancel scope."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""

    @property
    def name(self) -> str:
        """Its name for people: the program or the model, without addresses or arguments."""

    async def complete(self, prompt: str) -> str:
        """The whole answer to ``prompt``.

        Cancellation: whatever was started for this call is gone when it returns.

        Raises:
          LlmError: there is no usable answer.
        """


@attrs.frozen(kw_only=True)
class LlmChoice:
    """The preferred learner, its fallback, and why they were chosen."""

    preferred: Llm | Learner
    """A model that is asked by text, or a learner that needs none."""
    built_in: Llm | Learner
    """A learner without a model, used once the day's calls of a model are used up. If there is none, it is
    ``preferred``."""
    stands_in: bool = False
    """Whether ``built_in`` also learns while ``preferred`` fails. If not, events wait."""
    reason: str = ""
    """Why these were chosen: one clause, for people."""
    stays_here: bool = False
    """Whether prompts to ``preferred`` are known to stay on this machine."""
    obstacle: str = ""
    """Why ``auto`` does not use its agent, for people; empty if it does, or if the settings name another learner."""
    warning: Callable[[], str] = lambda: ""
    """What is wrong with the setup of ``preferred``, although it answers, as far as its answers show; else empty."""


class LlmByProject(Protocol):
    """Chooses the learner of a project: the model, or the fallback while the model fails."""

    @property
    def built_in(self) -> Llm | Learner:
        """The learner that needs no model."""

    def current(self, namespace: Namespace) -> Llm | Learner:
        """The learner that a run of this project would use if it started now."""

    def asking(self, namespace: Namespace) -> AbstractContextManager[Llm | Learner]:
        """The learner to ask inside the block; an error that leaves the block is its failure, a cancellation is not."""

    def asking_model(self, namespace: Namespace) -> AbstractContextManager[Llm]:
        """As ``asking``, but always the model, never a fallback.

        Raises:
          NoModel: no model is set up.
          BudgetSpent: the model's calls for today are used up.
          ModelSick: the model's breaker is open.
        """

    def is_on_trial(self, namespace: Namespace) -> bool:
        """Whether the model's breaker is open in this project: it failed run after run, and has not worked since."""

    def is_model_failing(self, namespace: Namespace) -> bool:
        """Whether the preferred learner is a model that failed last in this project and failed its health check."""


class LlmMeter(Protocol):
    """Counts the calls of models, and refuses calls beyond the day's limit."""

    def began(self, namespace: Namespace, prompt: str) -> LlmCall:
        """Count a call that is about to be made.

        Raises:
          BudgetSpent: the call must not be made; nothing was counted.
        """

    def not_asked(self, call: LlmCall, prompt: str) -> None:
        """Take back the count of a call: nothing was sent after all."""

    def ended(self, call: LlmCall, answer: str | None) -> None:
        """Note that the call is over; None: without an answer."""


@attrs.frozen
class Drafted:
    """What a learner made of a batch: drafts of records, and drafts for the graph."""

    drafts: Sequence[RecordDraft]
    snapshot: BufferSnapshot
    """The events that the drafts are from: all that were given, or as many from the start as the learner takes at
    once."""
    graph: GraphDrafts = NO_DRAFTS
    """Drafts for the graph, if they were asked for."""


class Learner(Protocol):
    """Turns stored events into drafts, with or without a model."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""

    @property
    def name(self) -> str:
        """Its name for people: the program or the model, without addresses or arguments."""

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """Drafts from ``snapshot``, or from as many of its first entries as the learner takes at once; at least one
        entry.

        Cancellation: nothing is left behind.

        Raises:
          LlmError: there is no usable answer.
          trio.TooSlowError: the learner took too long.
        """
