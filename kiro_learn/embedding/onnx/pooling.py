"""From the states of a text's tokens to the text's one vector."""

from __future__ import annotations

import numpy as np

from kiro_learn.vectors import Matrix, Vector


def unit_mean(token_states: Matrix) -> Vector:
    """The mean over the tokens, made unit length: what all-MiniLM-L6-v2 was trained to be read by.

    ``token_states``: (tokens, DIMENSION) float32, at least one token and no padding, hence no mask.
    """
    mean = token_states.mean(axis=0)
    unit: Vector = mean / np.linalg.norm(mean)
    return unit
