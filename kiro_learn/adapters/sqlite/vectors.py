"""A record's vectors as bytes: each ``dimension`` little-endian float32, one after the other, no frame.

Every bit pattern survives, NaNs included. The bundled model's have 384 components, 1,536 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, Codes, Matrix, Parts, are_parts

FLOAT = np.dtype("<f4")
FLOAT_BYTES = FLOAT.itemsize  # an attribute of NumPy costs as much as what is done with it here
DIMENSION_BYTES = 2


def to_blob(record_id: RecordId, parts: Parts, dimension: int = DIMENSION) -> bytes:
    """Raises: DimensionMismatch: ``parts`` is not (n, dimension) with n at least 1."""
    if not are_parts(parts, dimension):
        raise DimensionMismatch(record_id=record_id, wanted=dimension, found=parts.size)
    return parts.astype(FLOAT, copy=False).tobytes()


def from_blob(record_id: RecordId, blob: bytes, dimension: int = DIMENSION) -> Parts:
    """Raises: DimensionMismatch: ``blob`` is damaged."""
    if is_damaged(blob, dimension):
        raise DimensionMismatch(record_id=record_id, wanted=dimension, found=len(blob) // FLOAT_BYTES)
    return matrix_of([blob], dimension)


def is_damaged(blob: bytes, dimension: int = DIMENSION) -> bool:
    """Whether it is not the bytes of one or more vectors."""
    return not blob or len(blob) % (dimension * FLOAT_BYTES) != 0


def row_count(blob: bytes, dimension: int = DIMENSION) -> int:
    """Of the vectors in a blob that is not damaged."""
    return len(blob) // (dimension * FLOAT_BYTES)


def matrix_of(blobs: Iterable[bytes], dimension: int = DIMENSION) -> Matrix:
    """(n, dimension) float32, the rows of all ``blobs``, none of which is damaged."""
    return np.frombuffer(b"".join(blobs), FLOAT).astype(np.float32, copy=False).reshape(-1, dimension)


def codes_to_blob(codes: Codes) -> bytes:
    """The vectors' dimension, in two bytes, then the codes."""
    dimension = int(codes.shape[1])
    return dimension.to_bytes(DIMENSION_BYTES, "little") + codes.tobytes()


def codes_from_blob(blob: bytes, dimension: int = DIMENSION) -> Codes | None:
    """None if ``blob`` is damaged."""
    found = int.from_bytes(blob[:DIMENSION_BYTES], "little")
    codes = np.frombuffer(blob[DIMENSION_BYTES:], np.int8)
    return codes.reshape(-1, dimension) if found == dimension and len(codes) % dimension == 0 else None
