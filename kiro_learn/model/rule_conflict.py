"""A rule that is remembered, and a line of an agent's rule file that says the contrary."""

from __future__ import annotations

import attrs

from kiro_learn.model.ids import RecordId


@attrs.frozen
class RuleConflict:
    """A memory and a line of a rule file that contradict each other."""

    record_id: RecordId
    title: str
    path: str
    """Of the file: absolute, or in the user's folder (``~/``)."""
    line: int
    """The first line is 1."""
    text: str
    """What stands there."""
