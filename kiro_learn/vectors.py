"""The array types that F1 and F2 share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

DIMENSION = 384
"""Of all-MiniLM-L6-v2."""

Vector: TypeAlias = npt.NDArray[np.float32]
"""(DIMENSION,) float32. What the embedder makes has unit length; what the store holds is whatever was put."""

Matrix: TypeAlias = npt.NDArray[np.float32]
"""(n, DIMENSION) float32, a row a text."""

Parts: TypeAlias = npt.NDArray[np.float32]
"""(n, DIMENSION) float32, n at least 1: a text's own vector, then those of its windows if it is a long one."""


Codes: TypeAlias = npt.NDArray[np.int8]
"""(n, dimension) int8, a row a vector: its direction, to within 1/254 of its largest component."""


def to_codes(rows: Matrix) -> Codes:
    """``rows``, of any length, in a quarter of the bytes; a row that is zero or not finite becomes zeros."""
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    codes: Codes = np.rint(rows * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)
    return codes


def are_parts(rows: Matrix) -> bool:
    """Whether an array has the shape of ``Parts``."""
    return rows.shape[1:] == (DIMENSION,) and len(rows) > 0
