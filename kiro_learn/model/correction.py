"""What is to be changed about a memory, or about an item of the graph."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional, unchecked_evolve
from kiro_learn.model.graph import MAX_ALIASES, MAX_DESCRIPTION, MAX_NAME, MAX_OBJECT, MAX_STEPS
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
