"""What leaves the store by age."""

from __future__ import annotations

import attrs

from kiro_learn.model.checks import between

EXPIRED = "[EXPIRED]"
"""Stands where the content of an event stood."""
IMPORTANT = 8
"""Importance from which a memory is never distilled, and its events are kept longer."""
NOTABLE = 6
"""Importance from which a memory is distilled later."""
DISTILLED = "distilled"
"""The strategy of a record that was made shorter by age."""
MOST_DAYS = 36_500
MOST_REWRITTEN_BYTES = 1 << 30
"""Of content, which is copied in memory while a file is rewritten without what is free in it."""

_DAYS = between(0, MOST_DAYS)


@attrs.frozen(kw_only=True)
class RetentionRules:
    """After how many days what leaves the store; 0: never."""

    event_days: int = attrs.field(default=0, validator=_DAYS)
    """Events that were learned from lose their contents; of an important memory's session after 30 days at the
    earliest."""
    distill_days: int = attrs.field(default=0, validator=_DAYS)
    """Memories become shorter; notable ones after 90 days at the earliest, important ones never."""
    replaced_days: int = attrs.field(default=0, validator=_DAYS)
    """Memories that were replaced are deleted."""


@attrs.frozen
class Amount:
    """How much there is of something."""

    count: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.count + other.count, self.bytes + other.bytes)


@attrs.frozen
class FileSize:
    """Of what the store keeps its data in."""

    bytes: int
    free_bytes: int
    """Of these, allocated and not used."""

    @property
    def content_bytes(self) -> int:
        """What is used."""
        return self.bytes - self.free_bytes
