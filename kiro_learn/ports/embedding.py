"""The embedding model's contract, and what is seen of the actor that owns the models.

Multiplying coded vectors, as an adapter does it faster than NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Matrix, ModelIdentity, Parts, Vector
from kiro_learn.retrieval.ranking.vector_rows import CodeProduct


class EmbeddingModel(Protocol):
    """Turns texts into unit vectors, deterministically, and off the event loop."""

    @property
    def name(self) -> str:
        """What to call the model before people."""
        ...

    @property
    def folder(self) -> str | None:
        """Where its files are; None for the bundled one."""
        ...

    @property
    def identity(self) -> ModelIdentity | None:
        """Which model it is; None until it is loaded, unless that is known before."""
        ...

    async def load(self) -> None:
        """Make ready to embed. May take a second; a second call does nothing.

        Raises:
          ModelMissing: its file is absent or is not the one that was shipped.
          EmbeddingError: the folder holds no model that can be used.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per query, in the order given; (len(texts), dimension) float32.

        A text's vector does not depend on the others. Calls may overlap. Only as many tokens of a text count as the
        model reads at once; 256 with the bundled one.
        Cancellation: the caller goes on at once; the work under way ends unseen.

        Raises:
          EmbeddingError: the model failed.
        """
        ...

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """The vectors of each stored text, in the order given: a row for each window that the model reads it in.

        A model may read stored texts otherwise than queries; where it does not, the first row is what ``embed`` makes
        of the text. One that ends within the first window has no other row. Windows overlap by 32 tokens. There are at
        most 16; what would be in more does not count. All else is as with ``embed``.
        """
        ...


class TextEmbedder(Protocol):
    """Embeds texts that are stored."""

    @property
    def is_ready(self) -> bool:
        """Whether a model is loaded, so that embedding begins at once."""
        ...

    async def learning_model(self, namespace: Namespace) -> ModelIdentity:
        """The model to embed the project's new records with; waits until the models are ready.

        Raises:
          EmbeddingError: there is no model.
        """
        ...

    async def embed_texts(self, texts: Sequence[str], model: ModelIdentity | None = None) -> list[Parts]:
        """The unit vectors of stored texts and of their windows, in the background; waits until the model is ready.

        Raises:
          EmbeddingError: there is no model, or it failed on one of the texts.
        """
        ...


class QueryEmbedder(Protocol):
    """Embeds queries."""

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """The model by whose vectors the project is searched.

        Raises:
          EmbeddingError: the models are not ready, or that one is gone.
        """
        ...

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """The unit vector of a query, ahead of all stored texts; by the current model unless another is named.

        Raises:
          EmbeddingError: at once, unless the model is ready; or the model failed.
        """
        ...


class CodeMultiplier(CodeProduct, Protocol):
    """``CodeProduct`` as a port: the wiring is given an adapter of it."""
