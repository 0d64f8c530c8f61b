"""The embedder's port on ONNX Runtime: the bundled model, in worker threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import trio

from kiro_learn.embedding.onnx.bundle import FILES
from kiro_learn.vectors import DIMENSION, Matrix, Parts, Vector

if TYPE_CHECKING:
    from kiro_learn.embedding.onnx.encoder import Encoder
    from kiro_learn.embedding.onnx.tokenizer import TokenIds

THREAD_COUNT = 2
"""A query that an agent waits for runs beside one text of a backfill."""


class OnnxEmbeddingModel:
    """all-MiniLM-L6-v2 from the files in ``folder``; nothing is ever downloaded."""

    def __init__(self, folder: Path = FILES) -> None:
        self._folder = folder
        self._encoder: Encoder | None = None
        self._loading = trio.Lock()
        self._threads = trio.CapacityLimiter(THREAD_COUNT)

    @property
    def name(self) -> str:
        return "all-MiniLM-L6-v2"

    async def load(self) -> None:
        await self._loaded()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        encoder = await self._loaded()
        return await trio.to_thread.run_sync(
            embed_in_turn, encoder, tuple(texts), limiter=self._threads, abandon_on_cancel=True
        )

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        encoder = await self._loaded()
        return await trio.to_thread.run_sync(
            embed_parts_in_turn, encoder, tuple(texts), limiter=self._threads, abandon_on_cancel=True
        )

    async def _loaded(self) -> Encoder:
        """The encoder, loaded once for all who ask; one who gives up leaves the next to load it."""
        async with self._loading:
            if self._encoder is None:
                self._encoder = await trio.to_thread.run_sync(
                    load_encoder, self._folder, limiter=self._threads, abandon_on_cancel=True
                )
            return self._encoder


def load_encoder(folder: Path) -> Encoder:
    # Imported here, in the worker thread, because ONNX Runtime takes a fifth of a second to import, and the daemon
    # answers its port and its first prompt, by words alone, before the model is ready.
    from kiro_learn.embedding.onnx.encoder import open_encoder  # noqa: PLC0415  # see above

    return open_encoder(folder)


def embed_in_turn(encoder: Encoder, texts: tuple[str, ...]) -> Matrix:
    """A row a text; stops between two texts once nobody waits, so that an abandoned batch costs one text at most."""
    rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
    for number, text in enumerate(texts):
        trio.from_thread.check_cancelled()
        rows[number] = encoder.encode(text)
    return rows


def embed_parts_in_turn(encoder: Encoder, texts: tuple[str, ...]) -> list[Parts]:
    """Parts a text; stops between two windows once nobody waits."""
    return [np.stack([_encode_wanted(encoder, window) for window in encoder.windows(text)]) for text in texts]


def _encode_wanted(encoder: Encoder, window: TokenIds) -> Vector:
    trio.from_thread.check_cancelled()
    return encoder.encode_window(window)
