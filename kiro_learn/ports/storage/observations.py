"""The part of the store's contract that direct observations, and searches by their types, stand on."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace


class ObservationWrites(Protocol):
    """What one piece of writing may do about observations. All of it is kept, or none."""

    def find_duplicate(
        self, namespace: Namespace, content_hash: str, *, after: datetime, before: datetime
    ) -> RecordId | None:
        """The newest record with this content hash that was made between these moments, both exclusive."""
        ...
