"""Times as people write them on a command line."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import pytest

from kiro_learn.frontends.cli.options import with_offset


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"], autouse=True)
def _zone(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    "text", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.9-00:01"]
)
def test_a_time_beyond_the_calendar_is_refused_for_that(text: str) -> None:
    with pytest.raises(click.BadParameter, match="between the years 1 and 9999"):
        with_offset(text)


def test_the_last_day_there_is_may_be_an_end() -> None:
    assert with_offset("9999-12-31", is_end=True) == "9999-12-31T23:59:59.999999+00:00"


def test_a_date_is_its_midnight_and_as_an_end_the_next_one() -> None:
    assert with_offset("2026-01-05").startswith("2026-01-05T00:00:00")
    assert with_offset("2026-01-05", is_end=True) == with_offset("2026-01-06T00:00")


def test_what_is_no_time_is_refused_with_an_example() -> None:
    with pytest.raises(click.BadParameter, match="2026-01-05T12:00"):
        with_offset("soon")
