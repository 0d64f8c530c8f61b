"""What is to be changed about a memory, or about an item of the graph."""

from __future__ import annotations

import enum
import hashlib
from datetime import datetime

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional, unchecked_evolve
from kiro_learn.model.graph import MAX_ALIASES, MAX_DESCRIPTION, MAX_NAME, MAX_OBJECT, MAX_STEPS
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import (
    CONCEPTS,
    FACTS,
    FILES,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    MemoryRecord,
)
from kiro_learn.model.wording import bare_words


@attrs.frozen(kw_only=True)
class Correction:
    """None where something stays as it is."""

    title: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_TITLE)))
    summary: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_SUMMARY)))
    text: str | None = attrs.field(default=None, validator=optional(length(0, MAX_TEXT)))
    facts: tuple[str, ...] | None = attrs.field(default=None, validator=optional(FACTS))
    concepts: tuple[str, ...] | None = attrs.field(default=None, validator=optional(CONCEPTS))
    files: tuple[str, ...] | None = attrs.field(default=None, validator=optional(FILES))
    """All that the memory is about; which of them were read and which were changed is not known any more then."""

    def of(self, record: MemoryRecord) -> MemoryRecord:
        """``record`` as it is to be; it keeps its id. What was stored within wider bounds may be corrected too."""
        told = attrs.asdict(self, recurse=False, filter=lambda field, _: field.name != "files")
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


# Which records were replaced by which others, so that a replacement can be shown and undone.
#
# How a record that was forgotten is known again without its text being kept.


class ReplacementReason(enum.StrEnum):
    """Why records were replaced."""

    MERGED = "merged"
    """They said the same."""
    RELEARNED = "relearned"
    """Their events were learned again, by a better learner."""


@attrs.frozen(kw_only=True)
class Replacement:
    """Records that were replaced by others in one commit. Undoing it is all or nothing, too."""

    replacement_id: str
    """A ULID."""
    namespace: Namespace
    reason: ReplacementReason
    replaced_at: datetime
    replacing: tuple[RecordId, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """The records that came, each with this replacement alone; some may have been replaced themselves since."""
    replaced: tuple[MemoryRecord, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """The records that went, as they were; by id. What was forgotten since is missing."""


DIGEST_BYTES = 16
_BETWEEN_WORDS = "\0"
_BETWEEN_FIELDS = "\1"


def digest_of(title: str, summary: str) -> bytes:
    """Equal for records that say the same in the same words, however these are set in type."""
    words = _BETWEEN_FIELDS.join(_BETWEEN_WORDS.join(bare_words(text)) for text in (title, summary))
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
