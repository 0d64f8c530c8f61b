"""Does scanning codes lose neighbors, and how much does it save?

    python benchmarks/vector_recall.py [--records 50000] [--homes FOLDER] [--text FOLDER]

Vectors of real texts by the real model (``many_records.py``, kept in FOLDER), asked for with the prompts of
``prompt.py``: the share of the 10 and of the 100 nearest by float32 that a search finds, and the count of rows whose
vectors are read (median, p95). Processor milliseconds of one thread, median and p95: of a search, of the codes'
products on ONNX Runtime and on NumPy, of the products of all vectors in float32, of reading them once, and of reading
the codes once. Then the time of making an index and of adding a record, and the memory of a record.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import sysconfig
import tempfile
import tracemalloc
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import START, about_this_run, encoder, passages, real_vectors
from benchmarks.prompt import prompts
from benchmarks.prompt_stages import PROMPTS, Clock
from kiro_learn.adapters.onnx.code_product import OnnxCodeProduct
from kiro_learn.model.ids import RecordId
from kiro_learn.model.vectors import DIMENSION, Matrix, Vector
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import (
    FEWEST_BLOCK_ROWS,
    Approximations,
    CodedRows,
    Direction,
    VectorRows,
    multiply_codes,
)

DEPTHS = (10, 100)
PIECE = 256
"""The rows that are multiplied at a time: OpenBLAS gives the products of more to several threads."""
BYTES_A_COMPONENT = 2
"""The bytes of a vector's component in an index."""
FLOAT32_ERROR = 1e-6

Numbers = TypeVar("Numbers", np.float32, np.uint8)


def names(count: int) -> list[RecordId]:
    return [RecordId(f"mr_{number:026}") for number in range(count)]


def times(count: int) -> list[datetime]:
    return [START + timedelta(minutes=number) for number in range(count)]


def in_pieces(vectors: Matrix, columns: Matrix) -> Matrix:
    return np.concatenate([vectors[first : first + PIECE] @ columns for first in range(0, len(vectors), PIECE)])


def read_once(memory: npt.NDArray[Numbers]) -> None:
    for row in memory:
        row.max()


def share_found(index: VectorIndex, cosines: Vector, query: Vector, depth: int) -> float:
    """The share that is found of the ``depth`` nearest by float32. Rows as near as the last of them count too."""
    least = np.partition(cosines, -depth)[-depth] - FLOAT32_ERROR
    found = [int(hit.record_id.removeprefix("mr_")) for hit in index.rank(query, depth).hits]
    return float(np.mean(cosines[found] >= least))


def read_exactly(near: Approximations, depth: int) -> int:
    return int(np.count_nonzero(near.most >= np.partition(near.least, -depth)[-depth]))


def measure(vectors: Matrix, queries: Iterable[Vector]) -> dict[str, Any]:
    clock, product = Clock(), OnnxCodeProduct()
    count = len(vectors)
    index = VectorIndex.of(names(count), times(count), vectors)
    codes = VectorRows()
    codes.extend(CodedRows.of(vectors))
    mean = vectors.mean(axis=0, dtype=np.float64)
    memory = np.ones((count // PIECE, PIECE * DIMENSION), np.float32)
    as_many_codes = np.ones((count // FEWEST_BLOCK_ROWS + 1, FEWEST_BLOCK_ROWS * DIMENSION), np.uint8)
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    exact: dict[int, list[int]] = {depth: [] for depth in DEPTHS}
    for query in queries:
        sides = Direction.of(query), Direction.of(mean)
        columns = np.ascontiguousarray(np.stack([query, mean.astype(np.float32)], axis=1))
        clock("search", partial(index.rank, query, DEPTHS[-1], product=product))
        near = clock("codes_by_onnx", partial(codes.multiply, count, *sides, product))
        clock("codes_by_numpy", partial(codes.multiply, count, *sides, multiply_codes))
        cosines = clock("float32", partial(in_pieces, vectors, columns))[:, 0]
        clock("reading_vectors", partial(read_once, memory))
        clock("reading_codes", partial(read_once, as_many_codes))
        for depth in DEPTHS:
            shares[depth].append(share_found(index, cosines, query, depth))
            exact[depth].append(read_exactly(near, depth))
    return {
        "recall": {f"at_{depth}": round(statistics.mean(shares[depth]), 6) for depth in DEPTHS},
        "rows_read_exactly": {
            f"at_{depth}": [int(np.percentile(exact[depth], share)) for share in (50, 95)] for depth in DEPTHS
        },
        "processor_ms": clock.told(),
    }


def cost(vectors: Matrix) -> dict[str, Any]:
    clock = Clock()
    count = len(vectors)
    ids, moments = names(count), times(count)
    for _ in range(5):
        index = clock("make_an_index", partial(VectorIndex.of, ids, moments, vectors))
    for number in range(200):
        parts = vectors[number : number + 1]
        index = clock("add_a_record", partial(index.with_record, RecordId(f"new_{number}"), START, parts))
    tracemalloc.start()
    index = VectorIndex.of(names(count), times(count), vectors)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    beyond = round(held / len(index) - BYTES_A_COMPONENT * DIMENSION)
    return {"processor_ms": clock.told(), "bytes_beyond_the_vector": beyond}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    texts = passages(options.text, options.records)
    with tempfile.TemporaryDirectory() as scratch:
        vectors = real_vectors(options.homes or Path(scratch), texts)
    queries = [encoder().encode(asked) for asked in prompts(texts[:PROMPTS])]
    about = {
        **about_this_run(),
        "vectors": len(vectors),
    }
    print(json.dumps({**about, **measure(vectors, queries), "cost": cost(vectors)}, indent=2))


if __name__ == "__main__":
    main()
