"""The one way a moment is written: UTC, microseconds, ``Z``; so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def to_text(moment: datetime) -> str:
    """``moment`` (aware) as ``2026-01-05T12:17:31.000000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Read an ISO-8601 moment with an offset; the answer is in UTC.

    Raises:
      ValueError: it is no date and time, or says no offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("expected an offset, as in 2026-01-05T12:17:31Z")
    return moment.astimezone(UTC)


def from_text_or_date(text: str, *, is_end: bool = False) -> datetime:
    """As ``from_text``. A date alone stands for its midnight in UTC; as an end, which it is part of, for the next one.

    Raises:
      ValueError: it is neither, or the last day there is.
    """
    if "T" in text:
        return from_text(text)
    try:
        return from_text(f"{text}T00:00:00Z") + timedelta(days=is_end)
    except OverflowError as error:
        raise ValueError("expected an earlier date") from error


def from_milliseconds(milliseconds: int, *, latest: datetime) -> datetime:
    """The UTC moment that many milliseconds after 1970, not after ``latest``: no clock is right about the future."""
    try:
        return min(datetime.fromtimestamp(milliseconds / 1000, UTC), latest)
    except (OverflowError, OSError, ValueError):
        return latest
