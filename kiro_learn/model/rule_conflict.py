"""A rule that is remembered, and a line of an agent's rule file, or another rule, that says the contrary."""

from __future__ import annotations

import attrs

from kiro_learn.model.ids import RecordId


@attrs.frozen
class RuleConflict:
    """A memory, and a line of a rule file or a second memory, that contradict each other."""

    record_id: RecordId
    title: str
    path: str
    """Of the file: absolute, or in the user's folder (``~/``)."""
    line: int
    """The first line is 1."""
    text: str
    """What stands there, or the title of the second memory."""
    other_id: RecordId | None = None
    """Of the second memory, which is no newer word of a person's that overrules the first; ``path`` is empty then."""

    @property
    def settled_by(self) -> str:
        """The command that settles it, or shows what a person has to settle."""
        if self.other_id is None:
            return f"kiro-learn memories show {self.record_id}"
        return f"kiro-learn conflicts keep {self.record_id} --over {self.other_id}"
