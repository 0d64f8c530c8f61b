"""The embedder's contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kiro_learn.vectors import Matrix


class EmbeddingModel(Protocol):
    """Turns texts into unit vectors, deterministically, and off the event loop."""

    @property
    def name(self) -> str: ...

    async def load(self) -> None:
        """Make ready to embed. May take a second; a second call does nothing.

        Raises:
          ModelMissing: its file is absent or is not the one that was shipped.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per text, in the order given; (len(texts), DIMENSION) float32.

        A text's vector does not depend on the others. Calls may overlap. Only the first 256 tokens of a text count.
        Cancellation: the caller goes on at once; the work under way ends unseen.

        Raises:
          EmbeddingError: the model failed.
        """
        ...
