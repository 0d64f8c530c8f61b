"""Clusters the candidates of one batch whose vectors are close, so that they are compared with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.learning.candidate import Candidate
from kiro_learn.learning.connected import connected
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Vector
from kiro_learn.retrieval.ranking.vector_rows import unit_rows

ROUNDING = 1e-6
"""Above the rounding error of a cosine of float32 vectors, so that equal vectors pass any threshold."""

ROWS_AT_ONCE = 256
"""Rows of cosines computed at a time: 20 MB for 10,000 candidates."""

_Doubles = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class Cluster:
    """Candidates joined by cosine, in the order in which they were made."""

    members: tuple[Candidate, ...]
    centroid: Vector | None
    """Unit length, between the members' directions; None if one of them has none, or they cancel out."""

    @classmethod
    def of(cls, members: Sequence[Candidate]) -> Cluster:
        """The cluster of all of ``members``, at least one, however far apart they are."""
        directions = _directions(members)
        middle = directions.mean(axis=0, keepdims=True)
        has_middle = directions.any(axis=1).all() and np.linalg.norm(middle) > ROUNDING
        return cls(tuple(members), unit_rows(middle.astype(np.float32))[0] if has_middle else None)

    @property
    def model(self) -> ModelIdentity:
        """The model whose vectors the centroid is the mean of."""
        return model_of(self.members)

    def similarity(self, member: Candidate) -> float:
        """Cosine of a member and the centroid; 0 without a centroid."""
        return 0.0 if self.centroid is None else float(_directions([member])[0] @ self.centroid.astype(np.float64))


def cluster(candidates: Sequence[Candidate], *, threshold: float) -> list[Cluster]:
    """Single-linkage clusters of ``candidates``: two whose cosine is at least ``threshold`` are in the same one.

    A candidate without a usable vector is alone. The clusters are in the order of
    their first members.
    """
    directions = _directions(candidates)
    groups = connected(_close_candidates(directions, threshold - ROUNDING))
    return [Cluster.of([candidates[index] for index in group]) for group in groups]


def _close_candidates(directions: _Doubles, least: float) -> Iterator[list[int]]:
    """For each candidate its own index and those of the close ones; computes ROWS_AT_ONCE rows at a time."""
    is_usable = np.linalg.norm(directions, axis=1) > ROUNDING
    for start in range(0, len(directions), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        is_close = (directions[rows] @ directions.T >= least) & is_usable & is_usable[rows, np.newaxis]
        for index, row in enumerate(is_close, start=start):
            yield [index, *np.flatnonzero(row).tolist()]


def _directions(candidates: Sequence[Candidate]) -> _Doubles:
    """A unit vector each, in double precision; zero for one without a usable vector of the same model."""
    model = model_of(candidates)
    nothing = np.zeros(model.dimension, np.float32)
    rows = [nothing if each.vector is None or each.model != model else each.vector for each in candidates]
    return unit_rows(np.array(rows, np.float32).reshape(-1, model.dimension)).astype(np.float64)


def model_of(candidates: Sequence[Candidate]) -> ModelIdentity:
    """The model of the first candidate with a vector; a batch has vectors of two only while models change."""
    return next((each.model for each in candidates if each.embedding is not None), BUNDLED_MODEL)
