"""The block never takes more bytes than it was given, and names exactly the memories that it shows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MAX_FACT, MAX_SUMMARY, MAX_TITLE, MemoryRecord, ObservationType
from kiro_learn.retrieval.rendering.report import HEADING, render
from kiro_learn.testing.daemon import a_record

CHARACTERS = st.characters(exclude_categories=["Cs"])


def lengthy(most: int) -> st.SearchStrategy[str]:
    """Text of any characters, often as long as it may be."""
    short = st.text(CHARACTERS, min_size=1, max_size=30)
    return st.builds(lambda text, times: (text * times)[:most], short, st.integers(1, most))


@st.composite
def records(draw: st.DrawFn) -> list[MemoryRecord]:
    return [
        unchecked(
            MemoryRecord,
            record_id=RecordId(f"mr_{number:026}"),
            namespace=Namespace("/actor/ann/project/p/"),
            strategy="turns",
            title=draw(lengthy(MAX_TITLE)),
            summary=draw(lengthy(MAX_SUMMARY)),
            facts=tuple(draw(st.lists(lengthy(MAX_FACT), max_size=4))),
            observation_type=ObservationType.DECISION,
            source_event_ids=(EventId("0" * 26),),
            created_at=datetime(2026, 1, 5, tzinfo=UTC),
        )
        for number in range(draw(st.integers(0, 6)))
    ]


@given(
    records=records(),
    query=lengthy(100),
    most_bytes=st.integers(200, 9_000),
    scores=st.lists(st.floats(), min_size=6, max_size=6),
)
def test_the_block_keeps_its_budget(
    records: list[MemoryRecord], query: str, most_bytes: int, scores: list[float]
) -> None:
    rendered = render(records, query, most_bytes=most_bytes, scores=scores[: len(records)])
    assert len(rendered.text.encode()) <= most_bytes
    assert rendered.text.count("\n### ") == len(rendered.record_ids)
    assert bool(rendered.text) == bool(rendered.record_ids)
    assert list(rendered.record_ids) == [r.record_id for r in records if r.record_id in set(rendered.record_ids)]


@pytest.mark.parametrize("scores", [[1e306, 1.0], [5e-324, 1e308], [1.7e308, 1.7e308]])
def test_no_score_is_too_large_or_too_small_to_be_shared_by(scores: list[float]) -> None:
    kept = [a_record(number) for number in range(2)]
    assert len(render(kept, "", most_bytes=1_000, scores=scores).record_ids) == 2


@given(records=records(), query=lengthy(100))
def test_every_memory_is_shown_where_there_is_room_for_all(records: list[MemoryRecord], query: str) -> None:
    rendered = render(records, query, most_bytes=1_000_000)
    assert list(rendered.record_ids) == [record.record_id for record in records]
    assert rendered.text.startswith(HEADING) or not records
