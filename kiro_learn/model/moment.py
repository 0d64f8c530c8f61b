"""The one way a moment is written: UTC, microseconds, ``Z``; so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


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


def from_milliseconds(milliseconds: int, *, latest: datetime) -> datetime:
    """The UTC moment that many milliseconds after 1970, not after ``latest``: no clock is right about the future."""
    try:
        return min(datetime.fromtimestamp(milliseconds / 1000, UTC), latest)
    except (OverflowError, OSError, ValueError):
        return latest
