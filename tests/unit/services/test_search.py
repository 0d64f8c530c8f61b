from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.event import TextBody
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import embedded_text
from kiro_learn.services import search
from kiro_learn.services.search import Findings, SearchMode
from kiro_learn.services.stopwatch import Stopwatch
from kiro_learn.testing.embedding import WINDOW_WORDS, HashEmbedder, further_windows, hashed_words
from kiro_learn.testing.household import NAMESPACE, a_record, an_event, simulated_household
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.vectors import Matrix

QUERY = "the parser drops a token"


class WithoutBackdrops(InMemoryStorage):
    """Cannot read them, or only late."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self._how = how

    async def get_backdrops(self, record_ids: Sequence[RecordId]) -> dict[RecordId, Backdrop]:
        if self._how == "late":
            await trio.sleep(3600)
        if self._how == "busy":
            raise StorageBusy("another process holds the lock")
        return await super().get_backdrops(record_ids)


def found(how: str, mode: SearchMode = SearchMode.HYBRID) -> Findings:
    async def scenario() -> Findings:
        async with simulated_household(storage=WithoutBackdrops(how)) as desk:
            for number in range(3):
                await desk.capture.take(an_event(number, text=QUERY))
            await trio.sleep(60)
            return await desk.search.find(
                NAMESPACE, QUERY, limit=5, mode=mode, patience_seconds=0.4, stopwatch=Stopwatch()
            )

    findings: Findings = simulate(scenario)
    return findings


@pytest.mark.parametrize("how", ["late", "busy"])
def test_records_are_found_without_their_backdrops_and_it_is_said(how: str) -> None:
    findings = found(how)
    assert {hit.record_id for hit in findings.hits} == {hit.record_id for hit in found("at hand").hits}
    assert [reason.partition(":")[0] for reason in findings.degraded] == ["backdrops"]


def test_what_only_the_end_of_a_long_record_says_is_found_by_meaning() -> None:
    """From the store of the record on: embedded by its parts, kept, and ranked by its best as well as by its whole."""
    filler = " ".join(f"w{number}" for number in range(WINDOW_WORDS))
    long = a_record(1, "Minutes", f"{filler} {QUERY}")
    whole, window = (
        float(hashed_words(text) @ hashed_words(QUERY))
        for text in (embedded_text(long), *further_windows(embedded_text(long)))
    )

    async def scenario() -> Findings:
        async with simulated_household() as desk:
            await desk.remember.put(long)
            await desk.remember.put(
                a_record(2, "Colours of the parser", "dark red on light grey, but never blue or green text")
            )
            await trio.sleep(60)
            return await desk.search.find(
                NAMESPACE, QUERY, limit=5, mode=SearchMode.SEMANTIC, patience_seconds=0.4, stopwatch=Stopwatch()
            )

    (first, second) = simulate(scenario).vectors.hits
    assert first.record_id == long.record_id
    assert first.score == pytest.approx((whole + window) / 2, abs=1e-6)
    assert window > second.score > whole


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.SEMANTIC])
def test_one_ranking_alone_needs_no_backdrops(mode: SearchMode) -> None:
    assert found("busy", mode).degraded == ()


class Unsound(HashEmbedder):
    """Gives no direction for texts that say so."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = await super().embed(texts)
        vectors[["unsound" in text for text in texts]] = np.nan
        return vectors


def told_by(query: str) -> tuple[list[str], tuple[str, ...]]:
    """What is told of three memories, one of them unsound."""

    async def scenario() -> tuple[list[str], tuple[str, ...]]:
        async with simulated_household(model=Unsound()) as desk:
            for number, text in enumerate(("drops a token", "drops an unsound token", "drops a token too")):
                await desk.remember.put(a_record(number, "The parser", text))
            await trio.sleep(60)
            told = await desk.recall.answer(NAMESPACE, TextBody(query))
            return sorted(told.record_ids), told.degraded

    return simulate(scenario)


def test_a_vector_without_direction_costs_the_others_nothing() -> None:
    found, degraded = told_by("the parser drops a token")
    assert {a_record(0).record_id, a_record(2).record_id} <= set(found)
    assert degraded == ()


def test_a_query_without_direction_is_answered_by_words_and_it_is_said() -> None:
    found, degraded = told_by("the unsound parser drops a token")
    assert a_record(1).record_id in found
    assert degraded == ("vectors: the embedding model made a vector of no direction",)


def test_rankings_that_cannot_be_weighed_leave_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(*_: object, **__: object) -> tuple[Hit, ...]:
        raise FloatingPointError

    plain = found("at hand", SearchMode.LEXICAL)
    monkeypatch.setattr(search, "fuse_calibrated", overflow)
    findings = found("at hand")
    assert findings.hits == plain.hits
    assert findings.vectors.standings is None, "so the floor is the one for words"
    assert findings.degraded == ("fusion: FloatingPointError",)
