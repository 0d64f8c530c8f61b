"""What stands in a history where a time should."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kiro_learn.adapters.histories.turns import moment

NO_TIMES: list[Any] = [
    *(10**310, -(10**310), 10**18, 1e300, 0, -1, True, None, []),
    *("0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"),
]


@pytest.mark.parametrize(
    "value", [1_790_848_800, 1_790_848_800_000, 1_790_848_800.0, "2026-10-01T10:00:00", "2026-10-01T12:00:00+02:00"]
)
def test_a_time_is_read_in_each_of_its_forms(value: Any) -> None:
    assert moment(value) == datetime(2026, 10, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("value", NO_TIMES)
def test_what_is_no_time_is_none(value: Any) -> None:
    """A whole number of JSON may be larger than any fraction; and a program that knows no time may write the year 1."""
    assert moment(value) is None
