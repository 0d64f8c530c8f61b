"""The embedder's contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kiro_learn.vectors import Matrix, Parts


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

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """The vectors of each text, in the order given: a row for each of the windows that the model reads it in.

        The first row is what ``embed`` makes of the text; one that ends within 256 tokens has no other. Windows overlap
        by 32 tokens. There are at most 16; what would be in more does not count. All else is as with ``embed``.
        """
        ...
