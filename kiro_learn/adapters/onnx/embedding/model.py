"""The ``EmbeddingModel`` port on ONNX Runtime: the bundled model or one of the user's, in worker threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import trio

from kiro_learn.adapters.onnx.embedding.bundle import FILES
from kiro_learn.model.vectors import BUNDLED_MODEL, Matrix, ModelIdentity, Parts, Vector

if TYPE_CHECKING:
    from kiro_learn.adapters.onnx.embedding.encoder import Encoder
    from kiro_learn.adapters.onnx.embedding.user_model import UserEncoder

    AnyEncoder: TypeAlias = Encoder | UserEncoder

T = TypeVar("T")

THREAD_COUNT = 2
"""Two threads, so that an agent's query can run during a text of a backfill."""


class OnnxEmbeddingModel:
    """all-MiniLM-L6-v2 from the files in ``folder``; nothing is ever downloaded."""

    def __init__(self, folder: Path = FILES) -> None:
        self._files = folder
        self._encoder: AnyEncoder | None = None
        self._loading = trio.Lock()
        self._threads = trio.CapacityLimiter(THREAD_COUNT)

    @property
    def name(self) -> str:
        return BUNDLED_MODEL.name

    @property
    def folder(self) -> str | None:
        return None

    @property
    def identity(self) -> ModelIdentity | None:
        return BUNDLED_MODEL

    async def load(self) -> None:
        await self._loaded()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        return await self._apart(embed_in_turn, await self._loaded(), tuple(texts))

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        return await self._apart(embed_parts_in_turn, await self._loaded(), tuple(texts))

    async def _loaded(self) -> AnyEncoder:
        """The encoder, loaded once for all callers. If a caller is cancelled while it loads, the next one loads it."""
        async with self._loading:
            if self._encoder is None:
                self._encoder = await self._apart(self._open, self._files)
            return self._encoder

    async def _apart(self, step: Callable[..., T], *arguments: Any) -> T:
        """Run ``step`` in a thread. If the caller is cancelled, the thread goes on, and its result is dropped."""
        return await trio.to_thread.run_sync(step, *arguments, limiter=self._threads, abandon_on_cancel=True)

    def _open(self, folder: Path) -> AnyEncoder:
        return load_encoder(folder)


class UserEmbeddingModel(OnnxEmbeddingModel):
    """The user's own model in ``folder``, in the layout that sentence-transformers exports (docs/model.md)."""

    @property
    def name(self) -> str:
        return self._files.name

    @property
    def folder(self) -> str | None:
        return str(self._files)

    @property
    def identity(self) -> ModelIdentity | None:
        return None if self._encoder is None else self._encoder.identity

    def _open(self, folder: Path) -> AnyEncoder:
        return load_user_encoder(folder)


def load_encoder(folder: Path) -> Encoder:
    # Imported here, in the worker thread, because ONNX Runtime takes a fifth of a second to import, and the daemon
    # answers its port and its first prompt, by words alone, before the model is ready.
    from kiro_learn.adapters.onnx.embedding.encoder import open_encoder  # noqa: PLC0415  # see above

    return open_encoder(folder)


def load_user_encoder(folder: Path) -> UserEncoder:
    from kiro_learn.adapters.onnx.embedding.user_model import open_user_encoder  # noqa: PLC0415  # see above

    return open_user_encoder(folder)


def embed_in_turn(encoder: AnyEncoder, texts: tuple[str, ...]) -> Matrix:
    """One row per text. A cancelled caller stops it after the text under way."""
    rows = np.empty((len(texts), encoder.identity.dimension), dtype=np.float32)
    for number, text in enumerate(texts):
        trio.from_thread.check_cancelled()
        rows[number] = encoder.encode(text)
    return rows


def embed_parts_in_turn(encoder: AnyEncoder, texts: tuple[str, ...]) -> list[Parts]:
    """One ``Parts`` per text. A cancelled caller stops it after the window under way."""
    return [np.stack([_encode_wanted(encoder, window) for window in encoder.windows(text)]) for text in texts]


def _encode_wanted(encoder: AnyEncoder, window: Any) -> Vector:
    """``window``: one that this encoder's ``windows`` gave."""
    trio.from_thread.check_cancelled()
    return encoder.encode_window(window)
