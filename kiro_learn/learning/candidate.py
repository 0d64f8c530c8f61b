"""What was learned and is not kept yet."""

from __future__ import annotations

import attrs

from kiro_learn.model.record import MemoryRecord
from kiro_learn.vectors import Vector


@attrs.frozen(eq=False)
class Candidate:
    """A record that is not kept yet, and its vector where one could be made."""

    record: MemoryRecord
    embedding: Vector | None
