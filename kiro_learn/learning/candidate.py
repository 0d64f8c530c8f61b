"""What was learned and is not kept yet."""

from __future__ import annotations

import attrs

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Parts, Vector


@attrs.frozen(eq=False)
class Candidate:
    """A record that is not committed yet, with its vectors, if they could be made."""

    record: MemoryRecord
    embedding: Parts | None
    model: ModelIdentity = BUNDLED_MODEL
    """Which made ``embedding``."""

    @property
    def vector(self) -> Vector | None:
        """The whole's, by which candidates are compared."""
        return None if self.embedding is None else self.embedding[0]
