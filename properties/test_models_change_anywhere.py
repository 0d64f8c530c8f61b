"""For any models in turn, and whenever the daemon stops, every record gets vectors of the last model."""

from __future__ import annotations

from collections.abc import Sequence

import trio
from hypothesis import strategies as st

from kiro_learn.model.vectors import BUNDLED_MODEL, Matrix, ModelIdentity
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage

MODELS = [BUNDLED_MODEL, ModelIdentity("other", "b" * 64, 7), ModelIdentity("third", "c" * 64, 384)]


class SlowEmbedder(HashEmbedder):
    def __init__(self, identity: ModelIdentity) -> None:
        super().__init__(identity, None if identity == BUNDLED_MODEL else identity.name)

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await trio.sleep(0.3)
        return await super().embed(texts)


@scheduled(
    lives=st.lists(st.tuples(st.sampled_from(MODELS), st.floats(0, 6), st.integers(0, 4)), max_size=5),
    last=st.sampled_from(MODELS),
    gone=st.frozensets(st.sampled_from(MODELS), max_size=2),
)
async def test_every_record_is_found_by_the_last_model(
    lives: list[tuple[ModelIdentity, float, int]], last: ModelIdentity, gone: frozenset[ModelIdentity]
) -> None:
    """Vectors of two models are never mixed, and never compared with the query's vector of another model."""
    storage, number = InMemoryStorage(), 0
    for model, seconds, count in [*lives, (last, 120.0, 1)]:
        slow, earlier = SlowEmbedder(model), {each.folder: each for each in map(SlowEmbedder, MODELS)}
        earlier = {folder: each for folder, each in earlier.items() if each.identity not in gone}
        with trio.move_on_after(seconds):
            async with simulated_daemon(storage=storage, model=slow, earlier_models=earlier) as services:
                for _ in range(count):
                    number += 1
                    await services.remember.put(a_record(number))
                    await trio.sleep(seconds / 9)
                await trio.sleep_forever()
        table = await storage.list_embeddings(NAMESPACE)
        assert table.vectors.shape[1] == table.model.dimension
    assert table.model == last
    assert len(table.record_ids) == len(await storage.get_memory_records(table.record_ids)) == number
