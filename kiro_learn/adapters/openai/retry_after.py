"""How long a server asks clients to wait: the ``Retry-After`` of RFC 9110, section 10.2.3."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_SECONDS = 600
"""As long as a project's learning pauses by default; who asks for more is asked again before it is over."""


def retry_after_seconds(value: str | None, *, now: datetime) -> int | None:
    """Whole seconds, 0 to MOST_SECONDS; None if the header is not there, or says neither seconds nor a date."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), MOST_SECONDS)
    try:
        date = parsedate_to_datetime(text[:64])
    except (ValueError, OverflowError):
        return None
    seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)) - now
    return min(max(0, math.ceil(seconds.total_seconds())), MOST_SECONDS)
