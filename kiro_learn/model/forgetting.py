"""How a record that was forgotten is known again without its text being kept."""

from __future__ import annotations

import hashlib

from kiro_learn.model.wording import bare_words

DIGEST_BYTES = 16
_BETWEEN_WORDS = "\0"
_BETWEEN_FIELDS = "\1"


def digest_of(title: str, summary: str) -> bytes:
    """Equal for records that say the same in the same words, however these are set in type."""
    words = _BETWEEN_FIELDS.join(_BETWEEN_WORDS.join(bare_words(text)) for text in (title, summary))
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
