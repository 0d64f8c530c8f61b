"""The models' contracts: one embeds, one is given a prompt and answers with a text; and who is asked for a project.

The learner's contract is here too: a batch of events in, drafts of memories out. So is what is seen of the actor that
owns the embedding models, and multiplying coded vectors, as an adapter does it faster than NumPy.
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
    """Turns texts into unit vectors, deterministically, and off the event loop."""

    @property
    def name(self) -> str:
        """What to call the model before people."""

    @property
    def folder(self) -> str | None:
        """Where its files are; None for the bundled one."""

    @property
    def identity(self) -> ModelIdentity | None:
        """Which model it is; None until it is loaded, unless that is known before."""

    async def load(self) -> None:
        """Make ready to embed. May take a second; a second call does nothing.

        Raises:
          ModelMissing: its file is absent or is not the one that was shipped.
          EmbeddingError: the folder holds no model that can be used.
        """

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per query, in the order given; (len(texts), dimension) float32.

        A text's vector does not depend on the others. Calls may overlap. Only as many tokens of a text count as the
        model reads at once; 256 with the bundled one.
        Cancellation: the caller goes on at once; the work under way ends unseen.

        Raises:
          EmbeddingError: the model failed.
        """

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """The vectors of each stored text, in the order given: a row for each window that the model reads it in.

        A model may read stored texts otherwise than queries; where it does not, the first row is what ``embed`` makes
        of the text. One that ends within the first window has no other row. Windows overlap by 32 tokens. There are at
        most 16; what would be in more does not count. All else is as with ``embed``.
        """


class TextEmbedder(Protocol):
    """Embeds texts that are stored."""

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
    """Embeds queries."""

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """The model by whose vectors the project is searched.

        Raises:
          EmbeddingError: the models are not ready, or that one is gone.
        """

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """The unit vector of a query, ahead of all stored texts; by the current model unless another is named.

        Raises:
          EmbeddingError: at once, unless the model is ready; or the model failed.
        """


class CodeMultiplier(CodeProduct, Protocol):
    """``CodeProduct`` as a port: the wiring is given an adapter of it."""


TOO_SLOW = "the learner took too long"


@runtime_checkable
class Llm(Protocol):
    """A model, or a program, that answers a prompt with text. The deadline is the caller's cancel scope."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""

    @property
    def name(self) -> str:
        """What to call it before people: the program or the model, without addresses or arguments."""

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
    """A model, which is asked by text; or a learner that needs none."""
    built_in: Llm | Learner
    """Needs no model: learns once the day's calls of one are used up. Where there is none, it is ``preferred``."""
    stands_in: bool = False
    """Whether ``built_in`` also learns while ``preferred`` fails. If not, events wait to be learned."""
    reason: str = ""
    """One clause, for people."""
    stays_here: bool = False
    """What ``preferred`` is asked is known to stay on this machine."""
    obstacle: str = ""
    """Why ``auto`` does not use its agent, for people; empty where it does, and where another was asked for."""
    warning: Callable[[], str] = lambda: ""
    """What is wrong with how ``preferred`` is set up although it answers, as far as its answers tell; else empty."""


class LlmByProject(Protocol):
    """Chooses the learner of a project: the model, or the fallback while the model fails."""

    @property
    def built_in(self) -> Llm | Learner:
        """The learner that needs no model."""

    def current(self, namespace: Namespace) -> Llm | Learner:
        """The learner that a run of this project asks if it starts now."""

    def asking(self, namespace: Namespace) -> AbstractContextManager[Llm | Learner]:
        """The learner to ask inside the block; an error that leaves the block is its failure, a cancellation is not."""

    def asking_model(self, namespace: Namespace) -> AbstractContextManager[Llm]:
        """As ``asking``, but always the model, never a fallback.

        Raises:
          NoModel: none is set up.
          BudgetSpent: it was asked often enough for today.
          ModelSick: its breaker is open.
        """

    def is_on_trial(self, namespace: Namespace) -> bool:
        """The model's breaker is open in this project: it failed run after run, and has not worked since."""

    def is_model_failing(self, namespace: Namespace) -> bool:
        """The preferred learner is a model, failed in this project last, and failed its health check too."""


class LlmMeter(Protocol):
    """Counts the calls of models, and says when there may be no more."""

    def began(self, namespace: Namespace, prompt: str) -> LlmCall:
        """A model is about to be asked.

        Raises:
          BudgetSpent: it must not be; nothing was counted.
        """

    def not_asked(self, call: LlmCall, prompt: str) -> None:
        """Nothing was sent after all: there was no call."""

    def ended(self, call: LlmCall, answer: str | None) -> None:
        """The call is over; None: without an answer."""


@attrs.frozen
class Drafted:
    """What a learner made of a batch."""

    drafts: Sequence[RecordDraft]
    snapshot: BufferSnapshot
    """What they are from: all that was given, or as much of its beginning as the learner takes at once."""
    graph: GraphDrafts = NO_DRAFTS
    """What it says for the graph, where it was asked for that."""


class Learner(Protocol):
    """Turns stored events into drafts; with a prompt and an answer as text, or without."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""

    @property
    def name(self) -> str:
        """What to call it before people: the program or the model, without addresses or arguments."""

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """The memories that ``snapshot`` holds, or as much of its beginning as is taken at once; at least one entry.

        Cancellation: nothing is left behind.

        Raises:
          LlmError: there is no usable answer.
          trio.TooSlowError: it took too long.
        """
