"""What one sentence says of one object."""

from __future__ import annotations

import attrs

from kiro_learn.model.graph import EntityType

PROJECT = "the project"
"""Stands for the subject of ``we``, which the caller names; ``PERSON`` for that of ``I``."""


@attrs.frozen(kw_only=True)
class Statement:
    """What one sentence says of one object."""

    subject: str
    """A name, PROJECT or PERSON."""
    subject_type: EntityType
    predicate: str
    object: str
    replaces: str | None = None
    is_denied: bool = False
    is_past: bool = False
    """It held once, and does no longer ("used to")."""
    is_correction: bool = False
    """It puts right what was said before."""
