"""Which records were replaced by which others, so that a replacement can be shown and undone.

How a record that was forgotten is known again without its text being kept.
"""

from __future__ import annotations

import enum
import hashlib
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.wording import bare_words


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
