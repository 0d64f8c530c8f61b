"""``fusion = "rrf"`` is exactly the reciprocal rank fusion of the two modes' rankings."""

from __future__ import annotations

from typing import Literal

import trio
from hypothesis import strategies as st

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.retrieval.ranking.calibrated import reciprocal_rank_fusion
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.simulation import scheduled

WORDS = st.sampled_from(["parser", "token", "cache", "lock", "retry", "schema"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
DEPTH = 4
K = 60


@scheduled(texts=st.lists(TEXTS, min_size=1, max_size=12), query=TEXTS, limit=st.integers(1, 4))
async def test_places_are_fused_as_documented(texts: list[str], query: str, limit: int) -> None:
    config = Config(recall=RecallConfig(fusion="rrf"))
    async with simulated_daemon(config=config) as services:
        for number, text in enumerate(texts):
            await services.capture.take(an_event(number, text=text))
        await trio.sleep(60)
        rankings = [
            (await services.search.search(NAMESPACE, query, limit=limit * DEPTH, mode=mode)).records
            for mode in (SearchMode.LEXICAL, SearchMode.SEMANTIC)
        ]
        hybrid = (await services.search.search(NAMESPACE, query, limit=limit)).records

    scores = reciprocal_rank_fusion([[record.record_id for record in ranking] for ranking in rankings], k=K)
    newest = {record.record_id: record.created_at for ranking in rankings for record in ranking}
    best = sorted(sorted(scores), key=lambda each: (scores[each], newest[each]), reverse=True)[:limit]
    assert [record.record_id for record in hybrid] == best


@scheduled(texts=st.lists(TEXTS, min_size=2, max_size=12), query=TEXTS, fusion=st.sampled_from(["calibrated", "rrf"]))
async def test_either_fusion_finds_what_either_mode_finds(
    texts: list[str], query: str, fusion: Literal["calibrated", "rrf"]
) -> None:
    config = Config(recall=RecallConfig(fusion=fusion))
    async with simulated_daemon(config=config) as services:
        for number, text in enumerate(texts):
            await services.capture.take(an_event(number, text=text))
        await trio.sleep(60)
        found = {
            mode: {
                record.record_id
                for record in (await services.search.search(NAMESPACE, query, limit=50, mode=mode)).records
            }
            for mode in SearchMode
        }

    assert found[SearchMode.HYBRID] == found[SearchMode.LEXICAL] | found[SearchMode.SEMANTIC]
