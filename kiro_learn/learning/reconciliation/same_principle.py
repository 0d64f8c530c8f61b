"""Whether a person said the same of the same act twice: a second correction is the first one again."""

from __future__ import annotations

from kiro_learn.learning.acts.cues import cues_of
from kiro_learn.learning.protected_records import stems
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.model.wording import is_negation

LEAST_SHARE = 2 / 3
"""Of the shorter rule's words, those that the other has."""

_DENYING = frozenset({"avoid", "stop"})

LEAST_SHARED = 2
"""Words: one alone is mostly the act itself."""


def is_of_act(record: MemoryRecord) -> bool:
    """Whether it is a rule in a person's words that is about an act."""
    is_rule = record.knowledge_type is KnowledgeType.CONSTRAINT and record.origin is Origin.USER
    return is_rule and bool(cues_of(record))


def is_same_principle(rule: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether both are such rules, about the same acts, in mostly the same words, and neither denies the other."""
    if not is_of_act(rule) or not is_of_act(other):
        return False
    if {cue.key for cue in cues_of(rule)} != {cue.key for cue in cues_of(other)} or _denies(rule) != _denies(other):
        return False
    words, others = stems(rule.title), stems(other.title)
    shared = len(words & others)
    return shared >= LEAST_SHARED and shared >= LEAST_SHARE * min(len(words), len(others))


def _denies(rule: MemoryRecord) -> bool:
    """Negations that cancel each other out are none: "never … without" says to do it. Nor is "No, …" one."""
    words = (word for word in rule.title.lower().split() if not word.endswith(","))
    return sum(is_negation(word) or word in _DENYING for word in words) % 2 == 1
