"""The array types that F1 and F2 share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.checks import between
from kiro_learn.model.namespace import Namespace

# Which model a vector was made by.

MOST_DIMENSIONS = 1024
"""Of any model: up to here, sums of products of vectors' codes are exact in single precision (multiply_codes)."""


@attrs.frozen
class ModelIdentity:
    """An embedding model: vectors of two models cannot be compared, even if they are equally long."""

    name: str = attrs.field(eq=False)
    """For people; a folder that was renamed still holds the same model."""
    digest: str
    """SHA-256, in hexadecimal, over all files that its vectors depend on."""
    dimension: int = attrs.field(validator=between(1, MOST_DIMENSIONS))
    """Components of one of its vectors."""


BUNDLED_MODEL = ModelIdentity(
    name="all-MiniLM-L6-v2",
    digest="2629555df6019644b84e0c0f2dab4f597cdf35ab5110299857576b7824524815",
    dimension=384,
)
"""The model in the package, which made every vector that names no other."""


@attrs.frozen
class KnownModel:
    """A model that the store has vectors of, and where it was loaded from."""

    identity: ModelIdentity
    folder: str | None
    """None: the bundled one."""


@attrs.frozen
class ModelsInUse:
    """The models whose vectors are made or searched."""

    current: KnownModel
    """The one of the settings, as of the last start: all records are to get vectors of it."""
    earlier: Mapping[Namespace, KnownModel] = attrs.Factory(dict)
    """Which other model's vectors are still searched, for each project that is not wholly embedded with the current."""


@attrs.frozen
class ReembeddingCounts:
    """Records of the projects that are still searched by an earlier model's vectors."""

    total: int
    done: int
    """Those that the current model has embedded, or failed on for good."""


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


class CodeProduct(Protocol):
    """Multiplies the codes of an index by pieces of a vector; any thread may call it."""

    def __call__(self, codes: npt.NDArray[np.uint8], pieces: npt.NDArray[np.int8], /) -> npt.NDArray[np.int32]:
        """(n, k) int32, exactly ``(codes - ZERO) @ pieces``; ``codes`` in C order (``ranking.vector_rows``)."""
        ...
