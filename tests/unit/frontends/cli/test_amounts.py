"""Numbers as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kiro_learn.frontends.cli import terminal
from tests.unit.frontends.cli.samples import NOW


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (4100, "4.1 kB"), (38_400_000, "38 MB"),
     (999_999, "1.0 MB"), (7_000_000_000_000, "7,000 GB")],
)  # fmt: skip
def test_sizes_go_in_steps_of_a_thousand(count: int, text: str) -> None:
    assert terminal.size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (0.9, "0.9 s"), (42, "42 s"), (330, "5 min"), (11_520, "3 h 12 min"), (273_900, "3 d 4 h")],
)
def test_durations_have_a_unit(seconds: float, text: str) -> None:
    assert terminal.duration(seconds) == text


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=0.5), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(minutes=4, seconds=50), "4 min ago"),
        (timedelta(hours=9), "9 h ago"),
        (timedelta(days=2, hours=9), "2 d ago"),
        (timedelta(days=16, hours=4, minutes=3), "4 Nov 10:02"),
        (timedelta(days=-14, hours=4, minutes=3), "4 Dec 10:02"),
    ],
)
def test_the_past_is_told_from_now_within_a_week(before: timedelta, text: str) -> None:
    assert terminal.ago(NOW - before, NOW) == text


def test_days_of_this_week_go_by_their_name() -> None:
    assert terminal.calendar_time(datetime(2026, 11, 16, 10, 9, tzinfo=UTC), NOW) == "Mon 10:09"
    assert terminal.calendar_time(datetime(2026, 11, 4, 10, 2, tzinfo=UTC), NOW) == "4 Nov 10:02"
    assert terminal.calendar_time(datetime(2025, 11, 4, 10, 2, tzinfo=UTC), NOW) == "4 Nov 2025"


@pytest.mark.parametrize("hours", [-8, 9])
def test_a_calendar_time_knows_the_first_and_the_last_day_that_there_are(hours: int) -> None:
    now = NOW.astimezone(timezone(timedelta(hours=hours)))
    assert terminal.calendar_time(datetime.min.replace(tzinfo=UTC), now).startswith("1 Jan ")
    last = terminal.calendar_time(datetime.max.replace(tzinfo=UTC), now)
    assert last == "31 Dec 9999"


def test_one_is_one() -> None:
    assert (terminal.memories(1), terminal.memories(1204), terminal.events(0)) == (
        "1 memory",
        "1,204 memories",
        "0 events",
    )
