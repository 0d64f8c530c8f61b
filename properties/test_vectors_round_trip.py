from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.model.ids import RecordId
from kiro_learn.storage.sqlite import vectors
from kiro_learn.vectors import DIMENSION

ID = RecordId("mr_x")
ODD_BITS = (0x7FC00001, 0x7F800001, 0xFFFFFFFF, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000, 0xFF800000)
ODD = np.array(ODD_BITS * (DIMENSION // len(ODD_BITS)), "<u4").tobytes()


@given(bits=st.binary(min_size=vectors.VECTOR_BYTES, max_size=vectors.VECTOR_BYTES))
@example(bits=ODD)
def test_vectors_round_trip(bits: bytes) -> None:
    """Every bit comes back: NaNs with what they carry, infinities, both zeros and subnormals."""
    vector = np.frombuffer(bits, np.float32)
    blob = vectors.to_blob(ID, vector)
    assert len(blob) == 1536
    assert vectors.from_blob(ID, blob).tobytes() == blob == vector.tobytes()
    assert vectors.matrix_of([blob, blob]).tobytes() == blob + blob
