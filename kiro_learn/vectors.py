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


def are_parts(rows: Matrix) -> bool:
    """Whether an array has the shape of ``Parts``."""
    return rows.shape[1:] == (DIMENSION,) and len(rows) > 0
