"""What a session was told."""

from __future__ import annotations

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace


@attrs.frozen(kw_only=True)
class ToldRecord:
    """A record that an agent's session was told, and by which of its prompts."""

    namespace: Namespace
    session_id: str
    record_id: RecordId
    prompt_number: int
    """The session's first prompt is 1; of a record that was told several times, the last."""
