from __future__ import annotations

import numpy as np

from kiro_learn.adapters.onnx.embedding.encoder import unit_mean
from kiro_learn.model.vectors import DIMENSION


def test_the_mean_over_the_tokens_has_unit_length() -> None:
    states = np.zeros((2, DIMENSION), dtype=np.float32)
    states[0, 0], states[1, 1] = 3, 4
    vector = unit_mean(states)
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector[:3], [0.6, 0.8, 0], rtol=1e-6)


def test_one_token_is_its_own_mean() -> None:
    states = np.full((1, DIMENSION), 2, dtype=np.float32)
    np.testing.assert_allclose(unit_mean(states), np.full(DIMENSION, DIMENSION**-0.5), rtol=1e-6)
