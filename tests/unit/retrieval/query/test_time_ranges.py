from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.retrieval.query.time_ranges import (
    MOST_CHARACTERS,
    TimeRange,
    held_until,
    in_local_zone,
    since_when,
    time_range_in,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 18, 15, 30, 30, tzinfo=BERLIN)
"""A Wednesday, before the clock changes on the 29th."""


def at(local: str) -> datetime | None:
    """A moment of Berlin's time in UTC; ``-`` is an open side (None), ``now`` is NOW."""
    if local == "-":
        return None
    return (NOW if local == "now" else datetime.fromisoformat(local).replace(tzinfo=BERLIN)).astimezone(UTC)


Read = tuple[datetime | None, datetime | None, bool, bool]


def soft(start: str, end: str) -> Read:
    return at(start), at(end), False, False


def strict(start: str, end: str) -> Read:
    return at(start), at(end), True, False


def validity(start: str, end: str) -> Read:
    return at(start), at(end), False, True


def read(text: str, now: datetime = NOW) -> Read | None:
    found = time_range_in(text, now=now)
    return None if found is None else (found.start, found.end, found.is_strict, found.is_validity)


SPOKEN = {
    "what did we do today?": soft("2026-03-18", "2026-03-19"),
    "Yesterday the build broke": soft("2026-03-17", "2026-03-18"),
    "look at yesterday\u2019s change": soft("2026-03-17", "2026-03-18"),
    "what did I do last week?": soft("2026-03-09", "2026-03-16"),
    "this month's decisions": soft("2026-03-01", "2026-04-01"),
    "everything from last year": soft("2025-01-01", "2026-01-01"),
    # "ago": a range of one unit
    "we changed it two days ago": soft("2026-03-16", "2026-03-17"),
    "3 weeks ago we had a fix": soft("2026-02-23", "2026-03-02"),
    "about two months ago": soft("2026-01-01", "2026-02-01"),
    "a year ago": soft("2025-01-01", "2026-01-01"),
    # a span that ends now
    "what changed in the last 3 days?": soft("2026-03-15T15:30:30", "now"),
    "over the past two weeks we tried it": soft("2026-03-04T15:30:30", "now"),
    # named months and dates
    "what did we ship in January?": soft("2026-01-01", "2026-02-01"),
    "in november we moved to trio": soft("2025-11-01", "2025-12-01"),
    "the outage in May 2025": soft("2025-05-01", "2025-06-01"),
    "what broke on 2026-03-03?": strict("2026-03-03", "2026-03-04"),
    "on March 3rd, 2025 we cut the release": strict("2025-03-03", "2025-03-04"),
    "on 3 March": strict("2026-03-03", "2026-03-04"),
    "on December 24": strict("2025-12-24", "2025-12-25"),
    # one open side
    "before yesterday it worked": soft("-", "2026-03-17"),
    "after last week": soft("2026-03-16", "-"),
    "what changed since 3 March?": soft("2026-03-03", "-"),
    "since January nothing works": soft("2026-01-01", "-"),
    # what held at a time
    "as of 2026-03-03, which port?": validity("2026-03-03", "2026-03-04"),
    "as of last month": validity("2026-02-01", "2026-03-01"),
    "As of March 2025 what was the default?": validity("2025-03-01", "2025-04-01"),
    # only the first of several ranges
    "yesterday or last week?": soft("2026-03-17", "2026-03-18"),
}

SILENT = (
    "",
    "what did we do last time?",
    "I will fix it next week",
    "in two days we ship",
    "in 2027 bytes",
    "may we use trio?",
    "after 3 may fail too",
    "march through the list",
    "compile with -march=native",
    "upgrade from 3.2.1 to 3.4",
    "between 8080 and 8090",
    "on 03/04/2026",
    "on 2026-13-05",
    "on February 30",
    "on 2026-03-03.log",
    "on March 3 2027",
    "in March 2027",
    "in april's branch",
    "the last 3 commits",
    "the last week of the project",
    "tokens last 30 days",
    "until yesterday it worked",
    "more than two weeks ago",
    "two or three days ago",
    "2-3 days ago",
    "twenty two days ago",
    "0 days ago",
    "9999 years ago",
    "a while ago",
    "a day",
    "two days before yesterday",
    "before yesterday's deploy",
    "from today on",
    "date.today() is naive",
    "call `today` there",
    "format today's date",
    "the last week filter is broken",
    "last_week is a column",
    "as of now it fails",
    "after today",
    "in Maya",
    "the order on line 3",
)


@pytest.mark.parametrize(("text", "expected"), SPOKEN.items(), ids=SPOKEN)
def test_a_period_is_read(text: str, expected: object) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", SILENT)
def test_what_names_no_period_clearly_is_no_range(text: str) -> None:
    assert time_range_in(text, now=NOW) is None


def test_a_day_on_which_the_clock_changes_is_an_hour_shorter() -> None:
    found = time_range_in("yesterday", now=datetime(2026, 3, 30, 9, tzinfo=BERLIN))
    assert found is not None
    assert found.start == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert found.end == datetime(2026, 3, 29, 22, tzinfo=UTC)


def test_the_day_is_the_day_of_the_user() -> None:
    found = time_range_in("today", now=datetime(2026, 3, 18, 1, tzinfo=timezone(timedelta(hours=9))))
    assert found is not None
    assert found.start == datetime(2026, 3, 17, 15, tzinfo=UTC)


def test_white_space_does_not_matter() -> None:
    assert read("what broke on\n  March\t3,\n2026?") == strict("2026-03-03", "2026-03-04")


def test_only_the_beginning_of_a_long_prompt_is_read() -> None:
    assert read("x " * (MOST_CHARACTERS // 2) + "yesterday") is None


@pytest.mark.parametrize(
    ("text", "is_change", "expected"),
    [
        ("We use Redis since March.", False, "2026-03-01"),
        ("We switched last week.", True, "2026-03-09"),
        ("We use Redis this week.", False, "-"),
        ("As of last week we use Redis.", True, "-"),
        ("before March it was another", True, "-"),
    ],
)
def test_a_sentence_says_since_when_something_holds(text: str, is_change: bool, expected: str) -> None:
    assert since_when(text, now=NOW, is_change=is_change) == at(expected)


WIDENED = {
    "yesterday": ("2026-03-16", "2026-03-19"),
    "last week": ("2026-03-02", "2026-03-23"),
    "in the last 3 days": ("2026-03-14T15:30:30", "2026-03-19T15:30:30"),
    "before March 3": ("-", "2026-03-04"),
}


@pytest.mark.parametrize(("text", "bounds"), WIDENED.items(), ids=WIDENED)
def test_a_soft_range_widens_by_its_unit(text: str, bounds: tuple[str, str]) -> None:
    found = time_range_in(text, now=NOW)
    assert found is not None
    wide = found.widened()
    assert (wide.start, wide.end) == (at(bounds[0]), at(bounds[1]))


@pytest.mark.parametrize("text", ["on March 3", "on 2026-03-03"])
def test_a_strict_range_never_widens(text: str) -> None:
    found = time_range_in(text, now=NOW)
    assert found is not None
    assert found.widened() == found


def test_what_held_then_still_does_when_widened() -> None:
    found = time_range_in("as of last month", now=NOW)
    assert found is not None
    assert found.widened().is_validity


def test_a_range_at_the_end_of_the_calendar_opens_when_widened() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    wide = TimeRange(first, last, is_strict=False).widened()
    assert (wide.start, wide.end) == (None, None)


_WORDS = " ".join([*SPOKEN, *SILENT]).split(" ")
_TEXTS = st.one_of(
    st.text(),
    st.sampled_from([*SPOKEN, *SILENT]),
    st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join),
    st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=3)), max_size=12).map(" ".join),
)
_OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(_TEXTS, st.datetimes(timezones=st.one_of(_OFFSETS, st.timezones())))
@example("this year", datetime.max.replace(tzinfo=UTC))
@example("last year", datetime.min.replace(tzinfo=UTC))
@example("as of today", datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))))
@example("on \u0661\u0662 March", NOW)
@example("\u00b2 days ago", NOW)
def test_no_text_at_no_moment_raises_or_gives_an_empty_range(text: str, now: datetime) -> None:
    found = time_range_in(text, now=now)
    if found is None:
        return
    assert found.start or found.end
    wide = found.widened()
    for each in (found, wide):
        assert each.start is None or each.end is None or each.start < each.end
        assert {bound.tzinfo for bound in (each.start, each.end) if bound} == {UTC} or each == wide
    assert found.start is None or found.start <= now
    if found.start and wide.start:
        assert wide.start <= found.start


def test_the_local_zone_is_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        found = time_range_in("yesterday", now=in_local_zone(datetime(2026, 3, 30, 12, 0, tzinfo=UTC)))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found is not None
    assert found.start == datetime(2026, 3, 28, 23, 0, tzinfo=UTC)
    assert found.end == datetime(2026, 3, 29, 22, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what was the database until June?", "2025-06-01"),
        ("what did we use till yesterday?", "2026-03-17"),
        ("what held until 2026-01-05?", "2026-01-05"),
    ],
)
def test_what_held_until_a_time_held_just_before_it(text: str, day: str) -> None:
    found, end = held_until(text, now=NOW), at(day)
    assert found is not None
    assert end is not None
    assert found.start == end - timedelta(microseconds=1)
    assert found.is_validity


@pytest.mark.parametrize(
    "text", ["what was it until we met?", "what held since June?", "until 2026-02-31", "until or so"]
)
def test_until_no_day_is_no_time(text: str) -> None:
    assert held_until(text, now=NOW) is None
