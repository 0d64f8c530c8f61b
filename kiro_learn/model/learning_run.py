"""The books on learning."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen
class LearningRun:
    """One pass over one project's waiting events, as the books have it."""

    run_id: str
    namespace: Namespace
    strategy: str
    started_at: datetime
    finished_at: datetime
    event_count: int
    record_count: int
    problem: str | None
    """Why it learned nothing, or not all that it could have, or None."""
