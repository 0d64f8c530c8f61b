"""What a session was told."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace

ToldId: TypeAlias = RecordId | GraphItemId
"""Of a record, or of an item of the graph."""


@attrs.frozen(kw_only=True)
class ToldItem:
    """A record or an item of the graph that an agent's session was told, and by which of its prompts."""

    namespace: Namespace
    session_id: str
    item_id: ToldId
    prompt_number: int
    """The session's first prompt is 1; of what was told several times, the last."""
