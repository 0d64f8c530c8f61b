"""Which records are wanted."""

from __future__ import annotations

from datetime import datetime

import attrs


@attrs.frozen(kw_only=True)
class RecordFilter:
    """None, or nothing, where it does not matter."""

    types: tuple[str, ...] = ()
    """Of one of these types, as ``MemoryRecord.type_name``."""
    since: datetime | None = None
    """Made then or later."""
    until: datetime | None = None
    """Made before."""
    session: str | None = None
    """Its first event was said in this session."""
    concept: str | None = None
    """Has this concept, in whichever case of ASCII letters."""
    file: str | None = None
    """Cites this file: its path, or the end of its path from a slash on."""
    is_stale: bool | None = None
    """Whether files that it cites are known to have changed."""
    branch: str | None = None
    """Learned on this branch, which is not merged."""
    is_pinned: bool | None = None
    """Whether it is pinned."""


EVERYTHING = RecordFilter()
