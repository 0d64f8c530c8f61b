"""What is to be changed about a memory."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional
from kiro_learn.model.record import (
    MAX_CONCEPT,
    MAX_CONCEPTS,
    MAX_FACT,
    MAX_FACTS,
    MAX_FILE,
    MAX_FILES,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    MemoryRecord,
)
from kiro_learn.model.unchecked import unchecked_evolve


@attrs.frozen(kw_only=True)
class Correction:
    """None where something stays as it is."""

    title: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_TITLE)))
    summary: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_SUMMARY)))
    text: str | None = attrs.field(default=None, validator=optional(length(0, MAX_TEXT)))
    facts: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(0, MAX_FACTS, length(1, MAX_FACT)))
    )
    concepts: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(0, MAX_CONCEPTS, length(1, MAX_CONCEPT)))
    )
    files: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(0, MAX_FILES, length(1, MAX_FILE)))
    )
    """All that the memory is about; which of them were read and which were changed is not known any more then."""

    def of(self, record: MemoryRecord) -> MemoryRecord:
        """``record`` as it is to be; it keeps its id. What was stored within wider bounds may be corrected too."""
        told: dict[str, Any] = {
            "title": self.title,
            "summary": self.summary,
            "text": self.text,
            "facts": self.facts,
            "concepts": self.concepts,
        }
        changed = {name: value for name, value in told.items() if value is not None}
        if self.files is not None:
            changed |= {"files_touched": self.files, "files_read": (), "files_modified": ()}
        return unchecked_evolve(record, **changed)
