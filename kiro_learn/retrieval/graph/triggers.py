"""Why memories are looked up for a message, and whether it begins another topic."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from kiro_learn.retrieval.graph.intents import Intent
from kiro_learn.retrieval.query.terms import terms

SAME_TOPIC = 0.3
"""The cosine of a message and the last three of its conversation below which it may be about something else."""
CLEARLY_ANOTHER = 0.15
FEW_WORDS = 4
"""A message with fewer words that mean something says too little about its topic."""
LEAST_HISTORY = 2
RECENT_COUNT = 3
COMPACTION_SHARE = 0.75


class Trigger(enum.StrEnum):
    """Why memories are looked up."""

    SESSION_START = "session_start"
    REMEMBER = "remember"
    TOPIC_CHANGE = "topic_change"
    ENTITY = "entity"
    MESSAGE = "message"


def recent_text(history: Sequence[str]) -> str:
    """The part of a conversation that a new message is compared with; empty: there is too little of it."""
    return " ".join(history[-RECENT_COUNT:]) if len(history) >= LEAST_HISTORY else ""


def is_another_topic(message: str, *, similarity: float | None, shares_an_entity: bool, was_low_before: bool) -> bool:
    """Whether a message leaves what was spoken of.

    Args:
      similarity: its cosine to the last messages; None: not known.
      shares_an_entity: it names something that was named in them.
      was_low_before: the message before it was unlike what came before that, so this is the second one in a row.
    """
    if similarity is None or shares_an_entity or len(terms(message)) < FEW_WORDS:
        return False
    return similarity < CLEARLY_ANOTHER or (similarity < SAME_TOPIC and was_low_before)


def trigger_of(intent: Intent, *, has_history: bool, is_new_topic: bool, names_entities: bool) -> Trigger:
    """The first that fits."""
    if intent is Intent.RECALL_EPISODE:
        return Trigger.REMEMBER
    if not has_history:
        return Trigger.SESSION_START
    if is_new_topic:
        return Trigger.TOPIC_CHANGE
    return Trigger.ENTITY if names_entities else Trigger.MESSAGE


def is_compaction_due(history_tokens: int, slot: int) -> bool:
    """Three quarters of what the conversation may have are used."""
    return history_tokens >= COMPACTION_SHARE * slot
