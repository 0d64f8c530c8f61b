"""If stages of a retrieval are late or raise, the answer still comes in its budget, and names the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import trio
from hypothesis import strategies as st

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import LexicalRanking, RankingFeatures
from kiro_learn.model.vectors import Matrix
from kiro_learn.ports.storage.answers import EmbeddingTable, SearchParams
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import in_place, scheduled
from kiro_learn.testing.storage import InMemoryStorage

T = TypeVar("T")

ERRORS: dict[str, Exception] = {
    "ours": StorageBusy("locked"),
    "numpy": FloatingPointError("divide by zero"),
    "memory": MemoryError(),
    "quoting": KeyError("the secret clock skew"),
    "group": ExceptionGroup("several", [ValueError("the secret clock skew")]),
}
FATES = st.sampled_from(["well", "late", "slow", *ERRORS])
NAMED = {
    "words": "words",
    "embed": "vectors",
    "vectors": "vectors",
    "features": "features",
    "records": "records",
}
"""The name of each stage in a reason."""
STAGES = (*NAMED, "offload", "render")


async def meet(fate: str) -> None:
    """End a call by its fate. Several slow calls together are late."""
    if fate in ERRORS:
        raise ERRORS[fate]
    await trio.sleep({"late": 3600, "slow": 0.15}.get(fate, 0))


class FatedStorage(InMemoryStorage):
    """A store whose reads have fates."""

    fates: dict[str, str] = {}  # noqa: RUF012  # replaced, never changed

    async def rank_by_words(self, params: SearchParams) -> LexicalRanking:
        await meet(self.fates.get("words", "well"))
        return await super().rank_by_words(params)

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        await meet(self.fates.get("vectors", "well"))
        return await super().list_embeddings(namespace)

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        await meet(self.fates.get("features", "well"))
        return await super().get_ranking_features(record_ids)

    async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
        await meet(self.fates.get("records", "well"))
        return [self._read_back(record) for record in await super().get_memory_records(record_ids)]

    def _read_back(self, record: MemoryRecord) -> MemoryRecord:
        """The record, or one of which no block can be made."""
        if self.fates.get("render", "well") in ERRORS:
            object.__setattr__(record, "summary", None)
        return record


class FatedEmbedder(HashEmbedder):
    """An embedder whose queries have a fate."""

    fate = "well"

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await meet(self.fate)
        return await super().embed(texts)


@scheduled(fates=st.fixed_dictionaries(dict.fromkeys(STAGES, FATES)))
async def test_an_answer_comes_in_time_and_names_what_it_lacks(fates: dict[str, str]) -> None:
    """The report names it too. The only stored text in the report is the block."""
    storage, model = FatedStorage(), FatedEmbedder()

    async def offload(compute: Any, /) -> Any:
        await meet(storage.fates.get("offload", "well"))
        return await in_place(compute)

    config = Config(embedding=EmbeddingConfig(index_bytes=1_000))
    means: Any = {"storage": storage, "model": model, "offload": offload, "config": config}
    async with simulated_daemon(**means) as services:
        for number in range(3):
            await services.remember.put(a_record(number, "The token cache expires early", f"clock skew, case {number}"))
        await trio.sleep(100)
        await services.search.search(namespace_of("ada", "b" * 64), "whose index takes the place of ours", limit=1)
        storage.fates, model.fate = fates, fates["embed"]
        with trio.fail_after(0.501):
            told = await services.recall.answer(NAMESPACE, TextBody("why does the token cache expire early"))
        (report,) = services.retrievals.latest(namespace=None, limit=9)
        storage.fates, model.fate = {}, "well"

    assert report.latency_ms == told.latency_ms <= 500
    assert (report.degraded, report.context_bytes) == (told.degraded, len(told.context.encode()))
    assert "secret" not in str(report)
    assert (report.silent_because is None) == bool(told.context)
    if all(fate == "well" for fate in fates.values()):
        assert told.context
        assert not told.degraded
    for stage, name in NAMED.items():
        if fates[stage] not in {"well", "slow"} and stage in report.stages_ms:
            assert any(reason.startswith(f"{name}: ") for reason in told.degraded)
    if fates["render"] in ERRORS and report.records:
        assert told.degraded[-1].startswith("render: ")
        assert report.silent_because == "it failed"


@scheduled(fate=st.sampled_from(sorted(ERRORS)))
async def test_one_memory_that_cannot_be_read_does_not_silence_the_others(fate: str) -> None:
    """The memory is missing, and the answer says so."""

    class Damaged(InMemoryStorage):
        async def get_memory_records(self, record_ids: Sequence[RecordId]) -> list[MemoryRecord]:
            if a_record(1).record_id in record_ids:
                await meet(fate)
            return await super().get_memory_records(record_ids)

    async with simulated_daemon(storage=Damaged()) as services:
        for number in range(3):
            await services.remember.put(a_record(number, "The token cache expires early", f"clock skew, case {number}"))
        await trio.sleep(100)
        told = await services.recall.answer(NAMESPACE, TextBody("why does the token cache expire early"))

    assert set(told.record_ids) == {a_record(0).record_id, a_record(2).record_id}
    assert [reason.partition(":")[0] for reason in told.degraded] == ["records"]
