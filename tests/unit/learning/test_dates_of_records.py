"""A record that is learned late has the date of the events it was learned from."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kiro_learn.learning.extraction.parsing import dated
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.testing.daemon import an_event

EVENTS = [an_event(number) for number in range(3)]
SNAPSHOT = BufferSnapshot(
    tuple(BufferedEvent(event, position=place, size_bytes=1) for place, event in enumerate(EVENTS))
)


@pytest.mark.parametrize(
    ("cited", "later", "expected"),
    [
        ([0, 1], timedelta(days=30), 1),
        ([0], timedelta(days=30), 0),
        ([0, 1], timedelta(hours=23), None),
        ([], timedelta(days=30), None),
    ],
)
def test_it_is_that_of_the_newest_event_if_that_is_long_ago(
    cited: list[int], later: timedelta, expected: int | None
) -> None:
    now = EVENTS[0].valid_time + later
    found = dated([EVENTS[number].event_id for number in cited], SNAPSHOT, now)
    assert found == (now if expected is None else EVENTS[expected].valid_time)
