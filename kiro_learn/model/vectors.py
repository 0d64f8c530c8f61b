"""The array types for vectors, and the embedding models that make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.model.checks import between
from kiro_learn.model.namespace import Namespace

# Which model made a vector.

MOST_DIMENSIONS = 1024
"""The most dimensions of any model: up to here, sums of products of vectors' codes are exact in single precision
(multiply_codes)."""


@attrs.frozen
class ModelIdentity:
    """An embedding model. Vectors of two models cannot be compared, even if they are equally long."""

    name: str = attrs.field(eq=False)
    """The name for people; it does not count in comparisons, since a renamed folder still holds the same model."""
    digest: str
    """The SHA-256, in hexadecimal, over all files that its vectors depend on."""
    dimension: int = attrs.field(validator=between(1, MOST_DIMENSIONS))
    """The number of components of its vectors."""


BUNDLED_MODEL = ModelIdentity(
    name="all-MiniLM-L6-v2",
    digest="2629555df6019644b84e0c0f2dab4f597cdf35ab5110299857576b7824524815",
    dimension=384,
)
"""The model in the package; vectors that name no model are of this one."""


@attrs.frozen
class KnownModel:
    """A model of which the store has vectors, and the folder it was loaded from."""

    identity: ModelIdentity
    folder: str | None
    """None: the bundled model."""


@attrs.frozen
class ModelsInUse:
    """The models whose vectors are made or searched."""

    current: KnownModel
    """The model in the settings at the last start: all records are to get vectors of it."""
    earlier: Mapping[Namespace, KnownModel] = attrs.Factory(dict)
    """The earlier model that still serves a project, for each project that the current one has not wholly embedded."""


@attrs.frozen
class ReembeddingCounts:
    """How many records the projects have that an earlier model still serves."""

    total: int
    done: int
    """How many the current model has embedded, or failed on for good."""


DIMENSION = BUNDLED_MODEL.dimension
"""The length of the bundled model's vectors; those of another model have their own length, written ``dimension``."""

Vector: TypeAlias = npt.NDArray[np.float32]
"""(dimension,) float32. The embedder makes vectors of unit length; the store keeps any vector as it was put."""

Matrix: TypeAlias = npt.NDArray[np.float32]
"""(n, dimension) float32, one row a text."""

Parts: TypeAlias = npt.NDArray[np.float32]
"""(n, dimension) float32, n at least 1: the vector of a text, then those of its further windows if it is long."""


Codes: TypeAlias = npt.NDArray[np.int8]
"""(n, dimension) int8, one row a vector: its direction, to within 1/254 of its largest component."""


def to_codes(rows: Matrix) -> Codes:
    """Codes of ``rows``, which may have any length, in a quarter of the bytes; a row that is zero or not finite becomes
    zeros.
    """
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
