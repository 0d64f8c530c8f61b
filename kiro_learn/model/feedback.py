"""What became of a memory that was told: what followed, and what was said of it."""

from __future__ import annotations

import enum
from typing import NewType, TypeAlias

import attrs

from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import Slot

MOST_EFFECT = 0.15
"""A memory's score is at most this much higher or lower for what became of it."""

SAID_WEIGHT = 3
"""What somebody says of a memory counts as much as so many times that it was seen to be used."""

EVIDENCE = 3
"""That much of it is needed for half of the effect: one time may be chance."""


class Feedback(enum.StrEnum):
    """One thing that became of a memory."""

    HELPED = "helped"
    """Somebody says so."""
    WRONG = "wrong"
    """Somebody says so."""
    USED = "used"
    """Its names turned up in what the agent did then, more than those of memories that were not told."""
    IGNORED = "ignored"
    """They did not: it was told, and no more is known."""
    OBJECTED = "objected"
    """It was used, or named, and the person said "no", "wrong", "that was changed"."""


@attrs.frozen(kw_only=True)
class FeedbackCounts:
    """How often each became of one memory, or of all."""

    helped: int = 0
    wrong: int = 0
    used: int = 0
    ignored: int = 0
    objected: int = 0

    def plus(self, feedback: Feedback) -> FeedbackCounts:
        """With one more."""
        return attrs.evolve(self, **{feedback.value: getattr(self, feedback.value) + 1})

    @property
    def factor(self) -> float:
        """By which its score is multiplied. That it was told, and nothing followed, changes nothing."""
        good = SAID_WEIGHT * self.helped + self.used
        bad = SAID_WEIGHT * self.wrong + self.objected
        return 1 + MOST_EFFECT * (good - bad) / (good + bad + EVIDENCE)


# What a session was told.

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
