from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.adapters.sqlite import embeddings
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION

ID = RecordId("mr_x")
ODD_BITS = (0x7FC00001, 0x7F800001, 0xFFFFFFFF, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000, 0xFF800000)
ODD = np.array(ODD_BITS * (DIMENSION // len(ODD_BITS)), "<u4").tobytes()


ROWS = st.integers(1, 3).flatmap(lambda rows: st.binary(min_size=1536 * rows, max_size=1536 * rows))


@given(bits=ROWS)
@example(bits=ODD)
def test_vectors_round_trip(bits: bytes) -> None:
    """Every bit comes back: NaNs with their payload, infinities, both zeros and subnormals."""
    parts = np.frombuffer(bits, np.float32).reshape(-1, DIMENSION)
    blob = embeddings.to_blob(ID, parts)
    assert len(blob) == 1536 * len(parts)
    assert embeddings.from_blob(ID, blob).tobytes() == blob == parts.tobytes()
    assert embeddings.matrix_of([blob, blob]).tobytes() == blob + blob
