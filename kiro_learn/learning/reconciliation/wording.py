"""The words of a merged record; a judge's verdict and the rule's are the same value."""

from __future__ import annotations

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, ObservationType


@attrs.frozen
class Neighbor:
    """A stored record near a cluster's centroid."""

    record: MemoryRecord
    similarity: float
    """Cosine to the centroid."""


@attrs.frozen(kw_only=True)
class Merge:
    """A verdict: these records say the same, in these words. Every text is within the bounds of a record's."""

    record_ids: tuple[RecordId, ...]
    """As they were cited: one may be unknown, or no id at all."""
    title: str
    summary: str
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    observation_type: ObservationType | None = None
    """None: whatever they were."""


@attrs.frozen
class KeepSeparate:
    """A verdict: the records do not say the same."""


Verdict = Merge | KeepSeparate
