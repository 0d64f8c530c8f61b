"""Without a model, a new record does not cause a read of the records that wait for vectors."""

from __future__ import annotations

from collections.abc import Collection

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import Observation
from kiro_learn.model.record import MemoryRecord
from kiro_learn.services.services import Services
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon

OBSERVED = 20


class ReadsNoted(InMemoryStorage):
    """Notes how many records each read for embedding gave."""

    def __init__(self) -> None:
        super().__init__()
        self.read_counts: list[int] = []

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        records = await super().list_unembedded(limit, leave_out=leave_out)
        self.read_counts.append(len(records))
        return records


def test_without_a_model_at_most_one_waiting_record_is_read_for_a_new_one() -> None:
    storage = ReadsNoted()

    async def scenario(services: Services) -> None:
        for number in range(OBSERVED):
            await services.observe.observe(Observation(project="shop", title=f"Change {number}"))
        assert sum(storage.read_counts) <= OBSERVED

    in_daemon(scenario, storage=storage, config=Config(embedding=EmbeddingConfig(enabled=False)))
