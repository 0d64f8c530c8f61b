"""A vector as bytes: 384 little-endian float32, 1,536 bytes, no frame. Every bit pattern survives, NaNs included."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.ids import RecordId
from kiro_learn.vectors import DIMENSION, Matrix, Vector

FLOAT = np.dtype("<f4")
VECTOR_BYTES = DIMENSION * FLOAT.itemsize


def to_blob(record_id: RecordId, vector: Vector) -> bytes:
    """Raises: DimensionMismatch: ``vector`` is not (DIMENSION,)."""
    if vector.shape != (DIMENSION,):
        raise DimensionMismatch(record_id=record_id, wanted=DIMENSION, found=vector.size)
    return vector.astype(FLOAT, copy=False).tobytes()


def from_blob(record_id: RecordId, blob: bytes) -> Vector:
    """Raises: DimensionMismatch: ``blob`` is not VECTOR_BYTES long."""
    if len(blob) != VECTOR_BYTES:
        raise DimensionMismatch(record_id=record_id, wanted=DIMENSION, found=len(blob) // FLOAT.itemsize)
    return np.frombuffer(blob, FLOAT).astype(np.float32, copy=False)


def matrix_of(blobs: Iterable[bytes]) -> Matrix:
    """(n, DIMENSION) float32, a row a blob; each is VECTOR_BYTES long."""
    return np.frombuffer(b"".join(blobs), FLOAT).astype(np.float32, copy=False).reshape(-1, DIMENSION)
