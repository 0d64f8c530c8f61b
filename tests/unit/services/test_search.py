from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from kiro_learn.errors import StorageBusy
from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.ids import RecordId
from kiro_learn.services.search import Findings, SearchMode
from kiro_learn.services.stopwatch import Stopwatch
from kiro_learn.testing.household import NAMESPACE, an_event, simulated_household
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


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.SEMANTIC])
def test_one_ranking_alone_needs_no_backdrops(mode: SearchMode) -> None:
    assert found("busy", mode).degraded == ()
