"""Fakes of models: one whose answers a test scripts, and one that embeds deterministically, in the caller's task."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import BUNDLED_MODEL, DIMENSION, Matrix, ModelIdentity, Parts, Vector

Script = Callable[[str], str]


class ScriptedLlm:
    """An ``Llm`` whose answer to a prompt is the result of ``script``, which may raise."""

    strategy = "scripted"
    name = "script"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.gate: trio.Event | None = None
        """If set to an event, answers wait for that event."""

    async def complete(self, prompt: str) -> str:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        return self.script(prompt)


def a_record_per_event(prompt: str) -> str:
    """Learn one record from each framed event that is not context, citing it: easy to count and to identify."""
    numbers = [
        line.split('number="')[1].split('"')[0]
        for line in prompt.split("\n")
        if 'number="' in line and 'context="true"' not in line
    ]
    return (
        "".join(
            f'<memory_record type="discovery" events="{number}"><title>event {number}</title>'
            f"<summary>what event {number} taught</summary></memory_record>"
            for number in numbers
        )
        or "<skip/>"
    )


WINDOW_WORDS = 200
OVERLAP_WORDS = 25


class HashEmbedder:
    """An ``EmbeddingModel`` without a model or thread: texts that share words get close vectors.

    It has the identity of the bundled model unless another ``identity`` is given.

    ``fail_next``: an error that the next call raises. ``gate``: if set to an event, calls wait for that event.
    """

    def __init__(self, identity: ModelIdentity = BUNDLED_MODEL, folder: str | None = None) -> None:
        self.identity = identity
        self.folder = folder
        self.fail_next: EmbeddingError | None = None
        self.gate: trio.Event | None = None

    @property
    def name(self) -> str:
        return "hashed words"

    async def load(self) -> None:
        await self._obey()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await self._obey()
        dimension = self.identity.dimension
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, dimension)

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        """Windows of WINDOW_WORDS words each; unlike a model's, the first vector is that of the whole text."""
        wholes = await self.embed(texts)
        return [
            np.stack([whole, *map(self._vector, further_windows(text))])
            for whole, text in zip(wholes, texts, strict=True)
        ]

    def _vector(self, text: str) -> Vector:
        return hashed_words(text, self.identity.dimension)

    async def _obey(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.fail_next is not None:
            error, self.fail_next = self.fail_next, None
            raise error


def further_windows(text: str) -> list[str]:
    """The windows of a text after its first; none if the first holds all of it."""
    words, step = text.split(), WINDOW_WORDS - OVERLAP_WORDS
    starts = range(step, len(words) - OVERLAP_WORDS, step)
    return [" ".join(words[start : start + WINDOW_WORDS]) for start in starts]


def hashed_words(text: str, dimension: int = DIMENSION) -> Vector:
    """(dimension,) float32, unit length: counts of the lower-cased words, each at the index that its hash gives."""
    counts = np.zeros(dimension, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()) or [""]:
        counts[zlib.crc32(word.encode("utf-8", errors="replace")) % dimension] += 1
    unit: Vector = counts / np.linalg.norm(counts)
    return unit
