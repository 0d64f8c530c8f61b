"""What does each stage of a prompt cost, compared with the least that it could cost?

    python benchmarks/prompt_stages.py [--records 10000] [--homes FOLDER] [--text FOLDER]

In process, one thread, on a filled home (``many_records.py``): processor milliseconds, median and p95 over the prompts
of ``prompt.py``. Each stage is printed with its floor: for ``words``, FTS5 matching the same words without ranking them
(and ``words_by_fts5``, its own bm25, as the peer); for ``vectors``, reading as many bytes as there are codes once; for
``embed``, cutting the text into tokens; for ``features``, walking a list of as many ids; for ``fusion``, sorting as
many hits by their scores (and ``fusion_by_rrf``, the documented one, as the peer); for ``render``, joining the same
texts and counting their bytes. ``features_left`` are the features of records that only the vectors find: those of
records that words find are read while the vectors are awaited.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw
import attrs
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import Size, about_this_run, build_home, encoder, namespace, passages
from benchmarks.prompt import prompts
from kiro_learn.adapters.onnx.code_product import OnnxCodeProduct
from kiro_learn.adapters.onnx.embedding.bundle import FILES, TOKENIZER
from kiro_learn.adapters.onnx.embedding.tokenizer import MiniLmTokenizer
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.embeddings import list_embeddings
from kiro_learn.adapters.sqlite.records import get_memory_records, get_ranking_features
from kiro_learn.adapters.sqlite.search import WordIndexes, rank_by_words
from kiro_learn.model.record import embedded_text
from kiro_learn.model.retrieval import Ranking, best_first
from kiro_learn.model.vectors import CodeProduct
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.retrieval.query.syntax import match_expression, terms
from kiro_learn.retrieval.ranking.calibrated import Found, depth_for, fuse, fuse_calibrated
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.retrieval.rendering.repeats import each_once
from kiro_learn.retrieval.rendering.report import render

PROMPTS = 100
LIMIT = 10
RRF_K = 60
ROW = 9_600
"""The numbers that are read at a time for the floor: OpenBLAS gives products of 10,000 to several threads."""
DEPTH = depth_for(LIMIT)
MATCH = "SELECT count(*) FROM records_fts_1 WHERE records_fts_1 MATCH ?"
RANK = (
    "SELECT rowid, bm25(records_fts_1) AS score FROM records_fts_1 WHERE records_fts_1 MATCH ? ORDER BY score LIMIT ?"
)

T = TypeVar("T")


class Clock:
    """Measures the processor time of this thread, by stage."""

    def __init__(self) -> None:
        self._times: defaultdict[str, list[float]] = defaultdict(list)

    def __call__(self, stage: str, work: Callable[[], T]) -> T:
        began = time.thread_time()
        result = work()
        self._times[stage].append((time.thread_time() - began) * 1000)
        return result

    def told(self) -> dict[str, list[float]]:
        return {
            stage: [round(statistics.median(times), 2), round(sorted(times)[len(times) * 95 // 100], 2)]
            for stage, times in self._times.items()
        }


@attrs.frozen
class Project:
    """One namespace, opened for reading."""

    connection: apsw.Connection
    vectors: VectorIndex
    product: CodeProduct
    words: WordIndexes
    tokenizer: MiniLmTokenizer
    memory: np.ndarray[Any, np.dtype[np.float32]]
    """An array with as many bytes as the index's codes."""


def ask(project: Project, asked: str, clock: Clock) -> None:
    connection = project.connection
    params = SearchParams(namespace(0), asked, DEPTH, with_neighbors=True)
    expression = match_expression(terms(asked))
    clock("words_floor", lambda: connection.execute(MATCH, (expression,)).get)
    clock("words_by_fts5", lambda: connection.execute(RANK, (expression, DEPTH)).fetchall())
    words = clock("words", lambda: rank_by_words(connection, params, project.words))
    clock("embed_floor", lambda: project.tokenizer.token_ids(asked))
    vector = clock("embed", lambda: encoder().encode(asked))
    clock("vectors_floor", lambda: [np.dot(row, row) for row in project.memory])
    vectors = clock("vectors", lambda: project.vectors.rank(vector, DEPTH, product=project.product))
    ids = list(dict.fromkeys(hit.record_id for hit in (*words.hits, *vectors.hits)))
    clock("features_floor", lambda: connection.execute("SELECT value FROM json_each(?)", (json.dumps(ids),)).fetchall())
    ranking_features = clock("features", lambda: get_ranking_features(connection, ids, DamagedRows()))
    left = ids[len(words.hits) :]
    clock("features_left", lambda: get_ranking_features(connection, left, DamagedRows()))
    found = {hit.record_id: hit for hit in (*words.hits, *vectors.hits)}.values()
    clock("fusion_floor", lambda: best_first(found))
    rankings: Found = {Ranking.WORDS: words, Ranking.MEANING: vectors}
    clock("fusion_by_rrf", lambda: fuse(rankings, k=RRF_K, limit=LIMIT))
    hits = clock("fusion", lambda: fuse_calibrated(rankings, ranking_features).best(LIMIT))
    records = clock("records", lambda: get_memory_records(connection, DamagedRows(), [hit.record_id for hit in hits]))
    told = clock("repeats", lambda: each_once(records))
    clock("render_floor", lambda: len("\n".join(map(embedded_text, told)).encode()))
    clock("render", lambda: render(told, asked, most_bytes=8_000))


def measure(home: Path, asked: list[str]) -> dict[str, Any]:
    connection = apsw.Connection(str(home / "kiro-learn.db"), flags=apsw.SQLITE_OPEN_READONLY)
    clock = Clock()
    table = clock("read_vectors", lambda: list_embeddings(connection, DamagedRows(), namespace(0)))
    vectors = clock(
        "build_index", lambda: VectorIndex.of(table.record_ids, table.created_ats, table.vectors, table.row_counts)
    )
    memory = np.ones((table.vectors.size // np.float32().nbytes // ROW, ROW), np.float32)
    project = Project(connection, vectors, OnnxCodeProduct(), WordIndexes(), MiniLmTokenizer(FILES / TOKENIZER), memory)
    load = clock.told()
    results: dict[str, Any] = {"load": {stage: median for stage, (median, _) in load.items()}}
    for pass_name in ("new_words", "known_words"):
        clock = Clock()
        for words in asked:
            ask(project, words, clock)
        results[pass_name] = clock.told()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    texts = passages(options.text, options.records)
    with tempfile.TemporaryDirectory() as scratch:
        home = (options.homes or Path(scratch)) / Size(options.records).name
        build_home(home, Size(options.records), texts)
        results = measure(home, prompts(texts[:PROMPTS]))
    about = {
        **about_this_run(),
        "records": options.records,
    }
    print(json.dumps({**about, **results}, indent=2))


if __name__ == "__main__":
    main()
