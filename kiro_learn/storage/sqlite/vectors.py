"""A record's vectors as bytes: each 384 little-endian float32, 1,536 bytes, one after the other, no frame.

Every bit pattern survives, NaNs included.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.ids import RecordId
from kiro_learn.vectors import DIMENSION, Codes, Matrix, Parts, are_parts

FLOAT = np.dtype("<f4")
VECTOR_BYTES = DIMENSION * FLOAT.itemsize
DIMENSION_BYTES = 2


def to_blob(record_id: RecordId, parts: Parts) -> bytes:
    """Raises: DimensionMismatch: ``parts`` is not (n, DIMENSION) with n at least 1."""
    if not are_parts(parts):
        raise DimensionMismatch(record_id=record_id, wanted=DIMENSION, found=parts.size)
    return parts.astype(FLOAT, copy=False).tobytes()


def from_blob(record_id: RecordId, blob: bytes) -> Parts:
    """Raises: DimensionMismatch: ``blob`` is damaged."""
    if is_damaged(blob):
        raise DimensionMismatch(record_id=record_id, wanted=DIMENSION, found=len(blob) // FLOAT.itemsize)
    return matrix_of([blob])


def is_damaged(blob: bytes) -> bool:
    """Whether it is not one or more times VECTOR_BYTES long."""
    return not blob or len(blob) % VECTOR_BYTES != 0


def matrix_of(blobs: Iterable[bytes]) -> Matrix:
    """(n, DIMENSION) float32, the rows of all ``blobs``, none of which is damaged."""
    return np.frombuffer(b"".join(blobs), FLOAT).astype(np.float32, copy=False).reshape(-1, DIMENSION)


def codes_to_blob(codes: Codes) -> bytes:
    """The vectors' dimension, in two bytes, then the codes."""
    dimension = int(codes.shape[1])
    return dimension.to_bytes(DIMENSION_BYTES, "little") + codes.tobytes()


def codes_from_blob(blob: bytes) -> Codes | None:
    """None if ``blob`` is damaged."""
    dimension = int.from_bytes(blob[:DIMENSION_BYTES], "little")
    codes = np.frombuffer(blob[DIMENSION_BYTES:], np.int8)
    return codes.reshape(-1, dimension) if dimension and len(codes) % dimension == 0 else None
