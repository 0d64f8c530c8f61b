"""Which records are wanted."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.record import MemoryRecord


@attrs.frozen(kw_only=True)
class RecordFilter:
    """None, or nothing, where it does not matter."""

    types: tuple[str, ...] = ()
    """Of one of these types, as ``MemoryRecord.type_name``."""
    since: datetime | None = None
    """Made then or later."""
    until: datetime | None = None
    """Made before."""

    def fits(self, record: MemoryRecord) -> bool:
        return (
            (not self.types or record.type_name in self.types)
            and (self.since is None or record.created_at >= self.since)
            and (self.until is None or record.created_at < self.until)
        )


EVERYTHING = RecordFilter()
