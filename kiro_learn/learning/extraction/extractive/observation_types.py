"""The type of the memory that a turn makes, by its question and its answer."""

from __future__ import annotations

import re

from kiro_learn.model.record import KnowledgeType, ObservationType

_FAULT_ASKED = re.compile(
    r"\b(?:error|fail(?:s|ed|ing|ure)?|bug|crash(?:es|ed|ing)?|broken|exception|traceback|panic|regression|wrong|slow|leak(?:s|ing)?"
    r"|doesn't work|not working|times? out|timeout)\b",
    re.IGNORECASE,
)
_FAULT_FOUND = re.compile(
    r"\b(?:root cause|the (?:bug|issue|problem|error|failure) (?:is|was|were)|found the (?:bug|issue|problem|cause)"
    r"|caused by|the fix\b|bug fix|fixes|fixed (?:a|the|by|in)"
    r"|(?:was|is|were|are) (?:failing|broken|crashing) because)|^fixed\b",
    re.IGNORECASE | re.MULTILINE,
)
_CHANGED = re.compile(
    r"\b(?:added|updated|created|removed|renamed|moved|changed|replaced|implemented|refactored|wrote|extracted"
    r"|switched|deleted|converted|now \w+s)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we(?:'ll| will) go with|we decided|decision:|decided (?:to|on|against)|we agreed|we settled)\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:convention|best practice|the pattern (?:is|here)|idiomatic|rule of thumb|as a rule)\b", re.IGNORECASE
)
_BEGINNING = 400
"""How many first characters of an answer say what it is about."""
_FIRST_WORDS = 60
"""How many first characters of an answer say that it made a change, if no tool shows it."""


def observation_type(question: str, answer: str, *, chosen: bool, changed_files: bool) -> ObservationType:
    """The type by the content: a choice before a fault, a fault before a change, a change before an explanation."""
    beginning = answer[:_BEGINNING]
    if chosen or _DECIDED.search(beginning):
        return ObservationType.DECISION
    if _FAULT_FOUND.search(answer) and (_FAULT_ASKED.search(question) or _FAULT_FOUND.search(beginning)):
        return ObservationType.ERROR
    if _CHANGED.search(answer if changed_files else answer[:_FIRST_WORDS]):
        return ObservationType.TOOL_USE
    if _HABIT.search(beginning):
        return ObservationType.PATTERN
    return ObservationType.DISCOVERY


def knowledge_type(*, rules: bool, chosen: bool) -> KnowledgeType | None:
    """The type of what a person laid down: a rule is a constraint, a choice is a decision; else None."""
    if rules:
        return KnowledgeType.CONSTRAINT
    return KnowledgeType.DECISION if chosen else None
