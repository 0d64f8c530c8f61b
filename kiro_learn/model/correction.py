"""Corrections of a memory, or of an item of the graph."""

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
    """What to change about a memory. None: this field stays as it is."""

    title: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_TITLE)))
    summary: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_SUMMARY)))
    text: str | None = attrs.field(default=None, validator=optional(length(0, MAX_TEXT)))
    facts: tuple[str, ...] | None = attrs.field(default=None, validator=optional(FACTS))
    concepts: tuple[str, ...] | None = attrs.field(default=None, validator=optional(CONCEPTS))
    files: tuple[str, ...] | None = attrs.field(default=None, validator=optional(FILES))
    """All files that the memory is about; after that it is not known which were read and which were changed."""

    def of(self, record: MemoryRecord) -> MemoryRecord:
        """The corrected ``record``, with the same id. It may exceed today's bounds, as stored under wider ones."""
        told = attrs.asdict(self, recurse=False, filter=lambda field, _: field.name != "files")
        changed = {name: value for name, value in told.items() if value is not None}
        if self.files is not None:
            changed |= {"files_touched": self.files, "files_read": (), "files_modified": ()}
        return unchecked_evolve(record, **changed)


@attrs.frozen(kw_only=True)
class GraphCorrection:
    """What to change about an item of the graph. None: this field stays as it is. Which fields apply depends on its
    kind.
    """

    object: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_OBJECT)))
    """The new object of a fact."""
    value: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_OBJECT)))
    """The new value of a preference."""
    steps: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(1, MAX_STEPS, Worded(1, MAX_OBJECT)))
    )
    """The new steps of a procedure."""
    description: str | None = attrs.field(default=None, validator=optional(length(0, MAX_DESCRIPTION)))
    """The new description of an entity."""
    aliases: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(Each(0, MAX_ALIASES, Worded(1, MAX_NAME)))
    )
    """The aliases of an entity, in place of all that it has."""


# Which records were replaced by which others, so that a replacement can be shown and undone.
#
# Also digests, by which a forgotten record is recognised without its text being kept.


class ReplacementReason(enum.StrEnum):
    """Why records were replaced."""

    MERGED = "merged"
    """The records said the same."""
    RELEARNED = "relearned"
    """The records' events were learned again, by a better learner."""


@attrs.frozen(kw_only=True)
class Replacement:
    """Records that were replaced by others in one commit. It is also undone as a whole, or not at all."""

    replacement_id: str
    """A ULID."""
    namespace: Namespace
    reason: ReplacementReason
    replaced_at: datetime
    replacing: tuple[RecordId, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """The new records. They belong to this replacement alone; some may have been replaced themselves since."""
    replaced: tuple[MemoryRecord, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """The replaced records as they were, ordered by id. Records that were forgotten since are missing."""


DIGEST_BYTES = 16
_BETWEEN_WORDS = "\0"
_BETWEEN_FIELDS = "\1"


def digest_of(title: str, summary: str) -> bytes:
    """A digest that is equal for records with the same words, whatever marks and capitals they are written with."""
    words = _BETWEEN_FIELDS.join(_BETWEEN_WORDS.join(bare_words(text)) for text in (title, summary))
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
