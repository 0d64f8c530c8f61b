"""The reranker's port on ONNX Runtime, in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from kiro_learn.adapters.onnx.reranking.cross_encoder import CrossEncoder


class OnnxRerankModel:
    """The cross-encoder in ``folder``: ``model.onnx`` and ``tokenizer.json``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._encoder: CrossEncoder | None = None
        self._loading = trio.Lock()
        self._thread = trio.CapacityLimiter(1)

    @property
    def name(self) -> str:
        return self._folder.name

    async def load(self) -> None:
        await self._loaded()

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        encoder = await self._loaded()
        return await trio.to_thread.run_sync(
            score_in_turn, encoder, query, tuple(texts), limiter=self._thread, abandon_on_cancel=True
        )

    async def _loaded(self) -> CrossEncoder:
        """The encoder, loaded once for all callers; if a caller is cancelled while it loads, the next one loads it."""
        async with self._loading:
            if self._encoder is None:
                self._encoder = await trio.to_thread.run_sync(
                    load_cross_encoder, self._folder, limiter=self._thread, abandon_on_cancel=True
                )
            return self._encoder


def load_cross_encoder(folder: Path) -> CrossEncoder:
    # Imported here, in the worker thread: it takes a fifth of a second, and most homes have no such model.
    from kiro_learn.adapters.onnx.reranking.cross_encoder import open_cross_encoder  # noqa: PLC0415  # see above

    return open_cross_encoder(folder)


def score_in_turn(encoder: CrossEncoder, query: str, texts: tuple[str, ...]) -> Sequence[float]:
    """One score per text; stops between two texts once the caller was cancelled, so that it costs one more at most."""
    scores = []
    for text in texts:
        trio.from_thread.check_cancelled()
        scores.append(encoder.score(query, text))
    return scores
