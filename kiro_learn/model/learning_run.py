"""What is stored about one learning run."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen
class LearningRun:
    """One pass over a project's waiting events, as it is stored and listed."""

    run_id: str
    namespace: Namespace
    strategy: str
    started_at: datetime
    finished_at: datetime
    event_count: int
    record_count: int
    problem: str | None
    """Why it learned nothing, or not all that it could have, or None."""
