"""The array types that F1 and F2 share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kiro_learn.model.embedding_model import BUNDLED_MODEL

DIMENSION = BUNDLED_MODEL.dimension
"""Of the bundled model's vectors; those of another model have its own number of components, written ``dimension``."""

Vector: TypeAlias = npt.NDArray[np.float32]
"""(dimension,) float32. What the embedder makes has unit length; what the store holds is whatever was put."""

Matrix: TypeAlias = npt.NDArray[np.float32]
"""(n, dimension) float32, a row a text."""

Parts: TypeAlias = npt.NDArray[np.float32]
"""(n, dimension) float32, n at least 1: a text's own vector, then those of its windows if it is a long one."""


Codes: TypeAlias = npt.NDArray[np.int8]
"""(n, dimension) int8, a row a vector: its direction, to within 1/254 of its largest component."""


def to_codes(rows: Matrix) -> Codes:
    """``rows``, of any length, in a quarter of the bytes; a row that is zero or not finite becomes zeros."""
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    codes: Codes = np.rint(rows * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)
    return codes


def are_parts(rows: Matrix, dimension: int) -> bool:
    """Whether an array has the shape of the ``Parts`` of a model of that dimension."""
    return rows.shape[1:] == (dimension,) and len(rows) > 0
