"""A fake of the embedder's port: deterministic, inline, and obedient to a test."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.vectors import DIMENSION, Matrix, Parts, Vector

WINDOW_WORDS = 200
OVERLAP_WORDS = 25


class HashEmbedder:
    """Texts that share words get vectors that are close; no thread, no model.

    ``fail_next``: raised, once, by the next call. ``gate``: while it is set to an event, calls wait for that event.
    """

    def __init__(self) -> None:
        self.fail_next: EmbeddingError | None = None
        self.gate: trio.Event | None = None

    @property
    def name(self) -> str:
        return "hashed words"

    async def load(self) -> None:
        await self._obey()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await self._obey()
        return np.array([hashed_words(text) for text in texts], dtype=np.float32).reshape(-1, DIMENSION)

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """Windows of WINDOW_WORDS words each; unlike the model's, the whole's vector counts all of them."""
        wholes = await self.embed(texts)
        return [
            np.stack([whole, *map(hashed_words, further_windows(text))])
            for whole, text in zip(wholes, texts, strict=True)
        ]

    async def _obey(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.fail_next is not None:
            error, self.fail_next = self.fail_next, None
            raise error


def further_windows(text: str) -> list[str]:
    """The windows of a text after its first; none if that holds all of it."""
    words, step = text.split(), WINDOW_WORDS - OVERLAP_WORDS
    starts = range(step, len(words) - OVERLAP_WORDS, step)
    return [" ".join(words[start : start + WINDOW_WORDS]) for start in starts]


def hashed_words(text: str) -> Vector:
    """(DIMENSION,) float32, unit length: counts of the lower-cased words, each in the place its hash names."""
    counts = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()) or [""]:
        counts[zlib.crc32(word.encode("utf-8", errors="replace")) % DIMENSION] += 1
    unit: Vector = counts / np.linalg.norm(counts)
    return unit
