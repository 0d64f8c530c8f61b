"""The time that a server asks for in ``Retry-After``."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kiro_learn.adapters.openai.server import MOST_SECONDS, retry_after_seconds

NOW = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0),
        (" 7 ", 7),
        ("86400", MOST_SECONDS),
        ("9" * 5_000, MOST_SECONDS),
        ("Mon, 05 Jan 2026 12:00:30 GMT", 30),
        ("Mon, 05 Jan 2026 12:00:30 -0000", 30),
        ("Monday, 05-Jan-26 12:00:30 GMT", 30),
        ("Mon, 05 Jan 2026 11:00:00 GMT", 0),
        ("Tue, 05 Jan 2027 11:00:00 GMT", MOST_SECONDS),
        ("soon", None),
        ("-3", None),
        ("1.5", None),
        ("\u0663", None),
        ("", None),
        ("Mon, 99 Foo 2026 12:00:30 GMT", None),
        ("Mon, 05 Jan 9999999999 12:00:30 GMT", None),
        ("Mon, 05 Jan 2026 12:00:30 -99999999999999999", None),
    ],
)
def test_seconds_or_a_date_within_bounds(value: str | None, seconds: int | None) -> None:
    assert retry_after_seconds(value, now=NOW) == seconds
