"""If vectors fail in any way, the answer is exactly the answer by words."""

from __future__ import annotations

from collections.abc import Sequence

import trio
from hypothesis import strategies as st

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import EmbeddingError, ModelMissing
from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.model.event import TextBody
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.model.vectors import Matrix
from kiro_learn.retrieval.query.syntax import has_words
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import scheduled

WORDS = st.sampled_from(["parser", "token", "cache", "lock", "retry", "schema", "index", "budget", "daemon", "socket"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


class BrokenEmbedder(HashEmbedder):
    """An embedder that fails in a given way."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self._how = how

    async def load(self) -> None:
        if self._how == "absent":
            raise ModelMissing("model.onnx", "is absent")
        if self._how == "loading":
            await trio.sleep_forever()
        await super().load()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if self._how == "late":
            await trio.sleep(3600)
        if self._how == "failing":
            raise EmbeddingError("out of sorts")
        return await super().embed(texts)


@scheduled(
    texts=st.lists(TEXTS, min_size=1, max_size=12),
    query=TEXTS,
    how=st.sampled_from(["absent", "loading", "late", "failing", "disabled"]),
)
async def test_an_answer_without_vectors_is_the_answer_by_words(texts: list[str], query: str, how: str) -> None:
    """The same records, in the same order, in the same bytes."""
    config = Config(embedding=EmbeddingConfig(enabled=how != "disabled"))
    async with simulated_daemon(model=BrokenEmbedder(how), config=config) as services:
        for number, text in enumerate(texts):
            await services.capture.take(an_event(number, text=text))
        await trio.sleep(60)
        hybrid = await services.search.search(NAMESPACE, query, limit=5)
        lexical = await services.search.search(NAMESPACE, query, limit=5, mode=SearchMode.LEXICAL)
        told = await services.recall.answer(NAMESPACE, TextBody(query))

    assert hybrid.records == lexical.records
    assert told.latency_ms <= 500
    assert bool(told.degraded) == (how != "disabled" and has_words(query) and not asks_nothing(query))
