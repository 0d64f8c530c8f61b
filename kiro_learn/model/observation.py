"""What a client hands in to be remembered as it is, without a learner: an observation, or an item of knowledge."""

from __future__ import annotations

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional
from kiro_learn.model.record import (
    MAX_CAPTURE_TYPE,
    MAX_CONCEPT,
    MAX_CONCEPTS,
    MAX_DETAIL,
    MAX_DETAILS,
    MAX_FILE,
    MAX_FILES,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    Confidence,
    KnowledgeType,
    Severity,
)

MAX_PROJECT = 4096
MAX_SESSION = 128

MANUAL = "manual"
"""The type of an observation that names none."""

_CONCEPTS = Each(0, MAX_CONCEPTS, length(1, MAX_CONCEPT))
_FILES = Each(0, MAX_FILES, length(1, MAX_FILE))
_SESSION = optional(length(1, MAX_SESSION))
_DETAIL = optional(length(1, MAX_DETAIL))
_DETAILS = Each(0, MAX_DETAILS, length(1, MAX_DETAIL))


@attrs.frozen(kw_only=True)
class Observation:
    """What was done or seen, in the words of its reporter."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    title: str = attrs.field(validator=Worded(1, MAX_TITLE))
    type: str = attrs.field(default=MANUAL, validator=length(1, MAX_CAPTURE_TYPE))
    """``file-read``, ``file-write``, ``command``, ``research``, or any other word."""
    text: str = attrs.field(default="", validator=length(0, MAX_TEXT))
    """Technical content, such as what a tool was given and what it gave back."""
    narrative: str = attrs.field(default="", validator=length(0, MAX_SUMMARY))
    """For people to read; the text's beginning stands for it where there is none."""
    concepts: tuple[str, ...] = attrs.field(default=(), validator=_CONCEPTS)
    files_read: tuple[str, ...] = attrs.field(default=(), validator=_FILES)
    files_modified: tuple[str, ...] = attrs.field(default=(), validator=_FILES)
    session: str | None = attrs.field(default=None, validator=_SESSION)


@attrs.frozen(kw_only=True)
class KnowledgeItem:
    """A constraint, a decision, a heuristic or a rejected idea, with what belongs to one of its type."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    knowledge_type: KnowledgeType
    title: str = attrs.field(validator=Worded(1, MAX_TITLE))
    content: str = attrs.field(validator=Worded(1, MAX_TEXT))
    concepts: tuple[str, ...] = attrs.field(default=(), validator=_CONCEPTS)
    files: tuple[str, ...] = attrs.field(default=(), validator=_FILES)
    severity: Severity | None = None
    """Of a constraint; ``soft`` if it names none."""
    reason: str | None = attrs.field(default=None, validator=_DETAIL)
    """Of a constraint, a decision or a rejected idea."""
    alternatives: tuple[str, ...] = attrs.field(default=(), validator=_DETAILS)
    """Of a decision or a rejected idea."""
    context: str | None = attrs.field(default=None, validator=_DETAIL)
    """Of a heuristic."""
    confidence: Confidence | None = None
    """Of a heuristic."""
    session: str | None = attrs.field(default=None, validator=_SESSION)


@attrs.frozen(kw_only=True)
class Checkpoint:
    """Where a session stands, so that another one can go on from there."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    session: str = attrs.field(validator=length(1, MAX_SESSION))
    task: str = attrs.field(validator=Worded(1, MAX_TITLE))
    progress: str = attrs.field(default="", validator=length(0, MAX_SUMMARY))
    next_steps: str | None = attrs.field(default=None, validator=_DETAIL)
    open_questions: tuple[str, ...] = attrs.field(default=(), validator=_DETAILS)
    relevant_files: tuple[str, ...] = attrs.field(default=(), validator=_FILES)
