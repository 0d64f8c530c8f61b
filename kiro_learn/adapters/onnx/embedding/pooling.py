"""From the states of a text's tokens to the text's one vector."""

from __future__ import annotations

import enum

import numpy as np

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import Matrix, Vector


class Pooling(enum.StrEnum):
    """How the states of a text's tokens become its vector, as the model was trained."""

    MEAN = "mean"
    CLS = "cls"
    """The state of the first token."""
    MAX = "max"
    LAST = "lasttoken"


def unit_mean(token_states: Matrix) -> Vector:
    """The mean over the tokens, made unit length: what all-MiniLM-L6-v2 was trained to be read by.

    ``token_states``: (tokens, dimension) float32, at least one token and no padding, hence no mask.
    """
    mean = token_states.mean(axis=0)
    unit: Vector = mean / np.linalg.norm(mean)
    return unit


def pooled(token_states: Matrix, pooling: Pooling) -> Vector:
    """(dimension,) float32 of any length, of states as those of ``unit_mean``."""
    match pooling:
        case Pooling.MEAN:
            found = token_states.mean(axis=0)
        case Pooling.CLS:
            found = token_states[0]
        case Pooling.MAX:
            found = token_states.max(axis=0)
        case Pooling.LAST:
            found = token_states[-1]
    vector: Vector = found.astype(np.float32, copy=False)
    return vector


def unit(vector: Vector) -> Vector:
    """``vector`` at unit length.

    Raises:
      EmbeddingError: it is zero, or not finite.
    """
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not (np.isfinite(length) and length > 0):
        raise EmbeddingError("the embedding model made a vector of no direction")
    direction: Vector = (vector / length).astype(np.float32)
    return direction
