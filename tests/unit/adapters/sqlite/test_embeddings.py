from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.adapters.sqlite import embeddings
from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.vectors import DIMENSION
from tests.unit.storage.builders import parts, record_id, vector


def test_a_vector_is_1536_bytes_little_endian() -> None:
    ones = np.ones((1, DIMENSION), np.float32)
    assert embeddings.to_blob(record_id(1), ones) == bytes.fromhex("0000803f") * DIMENSION


def test_the_vectors_of_one_record_stand_one_after_the_other() -> None:
    blob = embeddings.to_blob(record_id(1), parts(1, 2, 3))
    assert blob == b"".join(vector(seed).tobytes() for seed in (1, 2, 3))
    assert embeddings.from_blob(record_id(1), blob).shape == (3, DIMENSION)


def test_a_big_endian_vector_is_written_little_endian() -> None:
    assert embeddings.to_blob(record_id(1), parts(1).astype(">f4")) == vector(1).tobytes()


@pytest.mark.parametrize("size", [0, 1, 383, 385])
def test_another_length_is_refused_by_the_record_it_is_of(size: int) -> None:
    with pytest.raises(DimensionMismatch, match=f"{record_id(1)} has {size} components"):
        embeddings.to_blob(record_id(1), np.zeros((1, size), np.float32))
    with pytest.raises(DimensionMismatch, match=f"{record_id(1)} has {size} components"):
        embeddings.from_blob(record_id(1), bytes(4 * size))


def test_no_blobs_are_an_empty_matrix() -> None:
    assert embeddings.matrix_of([]).shape == (0, DIMENSION)
