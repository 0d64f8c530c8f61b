"""What is to be changed about an item of the graph."""

from __future__ import annotations

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional
from kiro_learn.model.graph import MAX_ALIASES, MAX_DESCRIPTION, MAX_NAME, MAX_OBJECT, MAX_STEPS


@attrs.frozen(kw_only=True)
class GraphCorrection:
    """None where something stays as it is. Which of these an item has, its kind says."""

    object: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_OBJECT)))
    """Of a fact."""
    value: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_OBJECT)))
    """Of a preference."""
    steps: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(1, MAX_STEPS, Worded(1, MAX_OBJECT)))
    )
    """Of a procedure."""
    description: str | None = attrs.field(default=None, validator=optional(length(0, MAX_DESCRIPTION)))
    """Of an entity."""
    aliases: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(0, MAX_ALIASES, Worded(1, MAX_NAME)))
    )
    """Of an entity, in place of all that it has."""
