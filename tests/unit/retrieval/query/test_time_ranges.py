from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.retrieval.query.time_ranges import TimeRange, in_local_zone, time_range_in

NOW = datetime(2026, 2, 14, 12, 0, tzinfo=UTC)  # a Saturday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NAMED = [
    ("what did we do today?", "2026-02-14", "2026-02-15"),
    ("the bug from yesterday", "2026-02-13", "2026-02-14"),
    ("we talked 3 days ago", "2026-02-11", "2026-02-12"),
    ("we talked two days ago", "2026-02-12", "2026-02-13"),
    ("a week ago it worked", "2026-02-02", "2026-02-09"),
    ("two months ago", "2025-12-01", "2026-01-01"),
    ("a year ago", "2025-01-01", "2026-01-01"),
    ("2 hours ago", "2026-02-14T09:30", "2026-02-14T10:30"),
    ("in the last 3 days", "2026-02-11T12:00", "2026-02-14T12:00"),
    ("over the past two weeks", "2026-01-31T12:00", "2026-02-14T12:00"),
    ("this week", "2026-02-09", "2026-02-16"),
    ("last week", "2026-02-02", "2026-02-09"),
    ("last month", "2026-01-01", "2026-02-01"),
    ("this month", "2026-02-01", "2026-03-01"),
    ("last quarter", "2025-10-01", "2026-01-01"),
    ("this quarter", "2026-01-01", "2026-04-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("last Friday", "2026-02-13", "2026-02-14"),
    ("last Saturday", "2026-02-07", "2026-02-08"),
    ("on Monday", "2026-02-09", "2026-02-10"),
    ("in March", "2025-03-01", "2025-04-01"),
    ("in January", "2026-01-01", "2026-02-01"),
    ("in May 2024", "2024-05-01", "2024-06-01"),
    ("in 2024", "2024-01-01", "2025-01-01"),
    ("on 2026-01-05", "2026-01-05", "2026-01-06"),
    ("what happened 2026-01-05?", "2026-01-05", "2026-01-06"),
    ("on March 3", "2025-03-03", "2025-03-04"),
    ("on February 3rd", "2026-02-03", "2026-02-04"),
    ("on 3 March 2024", "2024-03-03", "2024-03-04"),
    ("on the 3rd of March", "2025-03-03", "2025-03-04"),
    ("on March 3, 2024", "2024-03-03", "2024-03-04"),
    ("between 2026-01-05 and 2026-01-08", "2026-01-05", "2026-01-09"),
    ("between March and May 2024", "2025-03-01", None),
    ("recently", "2026-01-31T12:00", "2026-02-14T12:00"),
    ("since yesterday", "2026-02-13", None),
    ("since last week", "2026-02-02", None),
    ("before March 2024", None, "2024-03-01"),
    ("after 2026-01-05", "2026-01-06", None),
    ("before last Friday", None, "2026-02-13"),
]


@pytest.mark.parametrize(("text", "start", "end"), [each for each in NAMED if "between March" not in each[0]])
def test_a_time_is_read(text: str, start: str | None, end: str | None) -> None:
    found = time_range_in(text, now=NOW)
    assert found is not None
    assert found.start == (None if start is None else day(start))
    assert found.end == (None if end is None else day(end))


NOTHING = """
like we did last time
do it this time
next week we ship
in a minute
may we begin?
this may be wrong
march on with it
the sun is up
use the 24h format
version 3.11.2 on port 8080
on 03/04/2026
in order to
after that, run the tests
before you commit, lint
since it fails
between the two of them
on the 40th of March
in 1999999
rename the class Month
2026-13-45
as of now it fails
the last 5 commits
in the last line
on main
as before
nothing at all
second thoughts
""".strip().splitlines()


@pytest.mark.parametrize("text", NOTHING)
def test_what_names_no_time_is_none(text: str) -> None:
    assert time_range_in(text, now=NOW) is None


def test_a_date_is_strict_and_a_week_is_not() -> None:
    date, week = time_range_in("on 2026-01-05", now=NOW), time_range_in("last week", now=NOW)
    assert date is not None
    assert week is not None
    assert date.widened() == date
    assert (week.widened().start, week.widened().end) == (day("2026-01-26"), day("2026-02-16"))


def test_as_of_means_what_held_then() -> None:
    found = time_range_in("what did we use as of January 2025?", now=NOW)
    assert found is not None
    assert (found.is_validity, found.start) == (True, day("2025-01-01"))


def test_the_first_of_several_counts() -> None:
    assert time_range_in("yesterday, not last week", now=NOW) == time_range_in("yesterday", now=NOW)


def test_days_are_those_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    spring = datetime(2026, 3, 30, 12, 0, tzinfo=berlin)
    found = time_range_in("yesterday", now=spring)
    assert found is not None
    assert found.start == datetime(2026, 3, 28, 23, 0, tzinfo=UTC)
    assert found.end == datetime(2026, 3, 29, 22, 0, tzinfo=UTC)


def test_the_local_zone_is_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        found = time_range_in("yesterday", now=in_local_zone(datetime(2026, 3, 30, 12, 0, tzinfo=UTC)))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found is not None
    assert (found.start, found.end) == (
        datetime(2026, 3, 28, 23, 0, tzinfo=UTC),
        datetime(2026, 3, 29, 22, 0, tzinfo=UTC),
    )


@given(st.text() | st.lists(st.sampled_from([word for text, *_ in NAMED for word in text.split()])).map(" ".join))
def test_any_text_is_read(text: str) -> None:
    found = time_range_in(text, now=NOW)
    if found is not None:
        assert isinstance(found.widened(), TimeRange)
        assert found.start is None or found.end is None or found.start < found.end


@given(st.datetimes(timezones=st.just(UTC)))
def test_any_now_will_do(now: datetime) -> None:
    for text, *_ in NAMED:
        time_range_in(text, now=now)
