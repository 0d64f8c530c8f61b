"""What is neither taken in nor told for a while."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace


@attrs.frozen
class Pause:
    """Hooks of a project, or of one session in it, are dropped, and its prompts are told nothing."""

    namespace: Namespace
    session_id: str | None
    """None: all of the project."""
    since: datetime
