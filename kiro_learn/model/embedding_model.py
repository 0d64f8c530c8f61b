"""Which model a vector was made by."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kiro_learn.model.checks import between
from kiro_learn.model.namespace import Namespace

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
