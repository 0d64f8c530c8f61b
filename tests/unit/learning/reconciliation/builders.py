"""Candidates, neighbors and vectors with known angles between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np

from kiro_learn.learning.reconciliation.plan import Neighbor
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import DIMENSION, Vector
from kiro_learn.testing.daemon import a_record


def at_degrees(degrees: float) -> Vector:
    """A unit vector at an angle; the cosine of two vectors is the cosine of the difference of their angles."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[:2] = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return vector


def a_candidate(number: int, degrees: float | None = 0.0, **fields: object) -> Candidate:
    """Candidate ``number`` with its vector at ``degrees``; None: it has no vector."""
    record = attrs.evolve(a_record(number), **fields)  # type: ignore[arg-type]  # whatever fields a test names
    return Candidate(record, None if degrees is None else at_degrees(degrees)[np.newaxis])


def a_neighbor(number: int, similarity: float = 0.9, **fields: object) -> Neighbor:
    return Neighbor(a_candidate(number, **fields).record, similarity)  # type: ignore[arg-type]  # as above


def ids(records: Sequence[MemoryRecord] | Sequence[Candidate]) -> list[RecordId]:
    return [each.record.record_id if isinstance(each, Candidate) else each.record_id for each in records]
