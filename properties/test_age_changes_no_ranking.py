"""Nothing in the answer to a question decays with time: an old history answers as it did when it was new."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import attrs
import trio
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.event import Event, TextBody
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Report
from kiro_learn.testing.daemon import FixedFiles, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, put_event
from properties.stories import NAMESPACES, events, records, texts

MINE = NAMESPACES[0]
AGE = timedelta(days=300)
FOLDER = "/srv/two"
DAY = re.compile(r"(?:(?<=\()|(?<= until )|(?<=\", ))\d{4}-\d\d-\d\d")
"""A day in a block: that of a memory, of the end of one that it replaced, or of a newer one."""

pasts = st.lists(records(of=st.just(MINE)), min_size=1, max_size=8, unique_by=lambda record: record.record_id)
tellings = st.lists(events(of=st.just(MINE)), max_size=8, unique_by=lambda event: event.event_id)
configs = st.builds(
    RecallConfig,
    result_limit=st.integers(1, 8),
    context_bytes=st.integers(300, 4_000),
    format=st.sampled_from(["excerpts", "documented"]),
    fusion=st.sampled_from(["calibrated", "rrf"]),
)


@given(past=pasts, told=tellings, queries=st.lists(texts, min_size=1, max_size=3), config=configs)
def test_a_history_moved_back_by_300_days_gets_the_same_blocks_but_for_dates(
    past: list[MemoryRecord], told: list[Event], queries: list[str], config: RecallConfig
) -> None:
    """In each session, with what it was told before, and with files that became as old."""
    answers = _answers(past, told, queries, config)
    note(f"told: {sum(bool(text) for text, _ in answers)} of {len(answers)}")
    older = [attrs.evolve(record, created_at=record.created_at - AGE) for record in past]
    earlier = [attrs.evolve(event, valid_time=event.valid_time - AGE) for event in told]
    moved = _answers(older, earlier, queries, config, age=AGE)
    assert [(DAY.sub("", text), report) for text, report in moved] == [
        (DAY.sub("", text), report) for text, report in answers
    ]
    for (text, _), (moved_text, _) in zip(answers, moved, strict=True):
        days, moved_days = ([datetime.fromisoformat(day) for day in DAY.findall(each)] for each in (text, moved_text))
        assert [day - AGE for day in days] == moved_days


def _answers(
    past: list[MemoryRecord],
    told: list[Event],
    queries: list[str],
    config: RecallConfig,
    *,
    age: timedelta = timedelta(),
) -> list[tuple[str, Report]]:
    """The block for each query, and its report in the retrieval log."""
    files = FixedFiles({FOLDER: {"pool": EPOCH - age, "db.ts": EPOCH - age - timedelta(days=9)}})

    async def scenario() -> list[tuple[str, Report]]:
        storage = InMemoryStorage()
        for event in told:
            await put_event(storage, event)
        async with simulated_daemon(storage=storage, config=Config(recall=config), project_files=files) as services:
            for record in past:
                await services.remember.put(record)
            await trio.sleep(1)  # until every record has its vectors
            found = []
            for query in queries:
                answer = await services.recall.answer(MINE, TextBody(query), session_id="s", folder=FOLDER)
                (report,) = services.retrievals.latest(namespace=None, limit=1)
                found.append((answer.context, report))
            return found

    return simulate(scenario)
