"""The port to the wall clock and to new identifiers, so that a test can supply its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import attrs


@attrs.frozen
class ClockAndIds:
    """The wall clock and the source of identifiers."""

    utc_now: Callable[[], datetime]
    """Now, aware, in UTC."""

    new_ulid: Callable[[], str]
    """A ULID that was never given before, in upper case."""
