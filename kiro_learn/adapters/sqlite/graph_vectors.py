"""Vectors of the graph's items, as the store keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import apsw
import numpy as np

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.graph_rows import items_in
from kiro_learn.adapters.sqlite.rows import Row, Values
from kiro_learn.model.graph import GraphItem, GraphItemId, kind_of
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Vector
from kiro_learn.ports.storage.graph import GraphVectors

FLOAT_BYTES = 4


def put_vectors(connection: apsw.Connection, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
    """See ``GraphWrites.put_graph_vectors``."""
    for item_id, vector in vectors:
        kind = kind_of(item_id)
        if kind in statements.PUT_VECTOR:
            blob = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            connection.execute(statements.PUT_VECTOR[kind], {"id": item_id, "digest": digest, "vector": blob})


def list_without_vector(
    connection: apsw.Connection, damaged: DamagedRows, digest: str, *, limit: int
) -> list[GraphItem]:
    """See ``GraphReads.list_graph_items_without_vector``."""
    found: list[GraphItem] = []
    for kind, statement in statements.WITHOUT_VECTOR.items():
        rows = connection.execute(statement, {"digest": digest})
        found += islice(items_in(kind, rows, damaged), limit - len(found))
    return found


def load_vectors(
    connection: apsw.Connection, damaged: DamagedRows, namespace: Namespace, digest: str, *, after: int
) -> GraphVectors:
    """See ``GraphReads.load_graph_vectors``. A vector that is not as long as most is noted and left out."""
    values: Values = {"namespace": namespace, "digest": digest, "after": after}
    found: list[Row] = connection.execute(statements.VECTORS, values).fetchall()
    sizes = Counter(size for row in found if (size := len(row[2])) and size % FLOAT_BYTES == 0)
    size = max(sizes, key=lambda each: (sizes[each], each), default=0)
    rows = [row for row in found if size and len(row[2]) == size]
    for row in found:
        if not size or len(row[2]) != size:
            damaged.note(row[1])
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f4")
    return GraphVectors(
        item_ids=tuple(GraphItemId(row[1]) for row in rows),
        rows=vectors.reshape(len(rows), -1) if rows else vectors.reshape(0, 0),
        through=found[-1][0] if found else after,
        total=connection.execute(statements.COUNT_VECTORS, {"namespace": namespace, "digest": digest}).get
        - (len(found) - len(rows)),
    )
