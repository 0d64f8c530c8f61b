"""What a session was told."""

from __future__ import annotations

from typing import NewType, TypeAlias

import attrs

from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import Slot

BriefId = NewType("BriefId", str)

BRIEF = BriefId("brief")
"""Stands for a session's brief: it was told, whatever of it the session may be told again."""


def told_slot(slot: Slot) -> BriefId:
    """Stands for what a session was told of a slot of its project's profile."""
    return BriefId(f"profile {slot}")


PAST = BriefId("profile before")
"""Stands for what held of a session's project and ended."""

ToldId: TypeAlias = RecordId | GraphItemId | BriefId
"""Of a record, of an item of the graph, of the brief or of a slot of the profile."""


@attrs.frozen(kw_only=True)
class ToldItem:
    """A record, an item of the graph or a brief that an agent's session was told, and by which of its prompts."""

    namespace: Namespace
    session_id: str
    item_id: ToldId
    prompt_number: int
    """The session's first prompt is 1; of what was told several times, the last."""
