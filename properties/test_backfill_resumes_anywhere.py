"""Every record gets its vector, whenever the daemon stops. A record that cannot be embedded blocks no other."""

from __future__ import annotations

from collections.abc import Sequence

import trio
from hypothesis import strategies as st

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import Matrix
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage


class PickyEmbedder(HashEmbedder):
    """A slow embedder that can never embed some texts."""

    def __init__(self, hated: frozenset[int]) -> None:
        super().__init__()
        self._hated = hated

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await trio.sleep(0.3)
        if any(f"event {number} taught" in text for number in self._hated for text in texts):
            raise EmbeddingError("cannot read this one")
        return await super().embed(texts)


@scheduled(
    count=st.integers(1, 12),
    hated=st.frozensets(st.integers(1, 12), max_size=3),
    lives=st.lists(st.floats(0, 6), max_size=4),
)
async def test_every_record_is_embedded_or_set_aside(count: int, hated: frozenset[int], lives: list[float]) -> None:
    """Several daemons run in turn, and each stops at any moment."""
    storage = InMemoryStorage()
    async with simulated_daemon(storage=storage) as services:
        for number in range(1, count + 1):
            await services.capture.take(an_event(number))
    for seconds in lives:
        with trio.move_on_after(seconds):
            async with simulated_daemon(storage=storage, model=PickyEmbedder(hated)):
                await trio.sleep_forever()
    async with simulated_daemon(storage=storage, model=PickyEmbedder(hated)) as services:
        await trio.sleep(120)
        counts = (await services.health.status()).embeddings
        records = (await services.queries.records(namespace=NAMESPACE, limit=100, offset=0)).items

    bad = sum(f"event {number} taught" in record.summary for record in records for number in hated)
    assert (counts.total, counts.embedded, counts.set_aside) == (count, count - bad, bad)
