from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import embedded_text
from kiro_learn.services.search import Findings, SearchMode
from kiro_learn.testing.embedding import WINDOW_WORDS, further_windows, hashed_words
from kiro_learn.testing.household import NAMESPACE, a_record, an_event, simulated_household
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

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
            return await desk.search.find(NAMESPACE, QUERY, limit=5, mode=mode, patience_seconds=0.4)

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
            return await desk.search.find(NAMESPACE, QUERY, limit=5, mode=SearchMode.SEMANTIC, patience_seconds=0.4)

    (first, second) = simulate(scenario).vectors.hits
    assert first.record_id == long.record_id
    assert first.score == pytest.approx((whole + window) / 2, abs=1e-6)
    assert window > second.score > whole


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.SEMANTIC])
def test_one_ranking_alone_needs_no_backdrops(mode: SearchMode) -> None:
    assert found("busy", mode).degraded == ()
