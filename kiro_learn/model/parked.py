"""What was learned but could not be kept yet."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord


@attrs.frozen(kw_only=True)
class ParkedCluster:
    """Candidates that describe one thing and whose commit failed; tried again until it succeeds, never dropped."""

    cluster_id: str
    """A ULID; it stays the same from one attempt to the next."""
    namespace: Namespace
    records: tuple[MemoryRecord, ...]
    """As they would have been kept, without their vectors; no search sees them."""
    problem: str
    """Why the last attempt failed."""
    attempt_count: int
    retry_at: datetime
