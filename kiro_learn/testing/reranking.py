"""A fake of the reranker's port: deterministic, inline, and controlled by a test."""

from __future__ import annotations

from collections.abc import Sequence

import trio


class LongestFirst:
    """A ``RerankModel`` for which a longer text fits better. An order that no ranking of ours gives.

    ``fail_with``: raised by every call. ``gate``: while it is set to an event, calls wait for that event.
    """

    def __init__(self) -> None:
        self.fail_with: Exception | None = None
        self.gate: trio.Event | None = None

    @property
    def name(self) -> str:
        return "longest first"

    async def load(self) -> None:
        await self._obey()

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:  # noqa: ARG002  # any query
        await self._obey()
        return [float(len(text)) for text in texts]

    async def _obey(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.fail_with is not None:
            raise self.fail_with
