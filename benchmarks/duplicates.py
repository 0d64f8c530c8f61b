"""How many memories say the same, and which were merged?

    python benchmarks/duplicates.py HOME_OR_DATABASE [--cosine 0.95] [--show 10]

Looks at a copy, so a daemon may be running. A duplicate is a pair of live memories of one project whose vectors have at
least that cosine. Prints one JSON object. With --show, it also prints that many of the remaining pairs and of the
merges in full, for a reader to judge.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.correction import Replacement
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.answers import EmbeddingTable
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.vector_rows import unit_rows

PAGE = 500


@attrs.frozen
class Pair:
    """Two live memories that are close."""

    cosine: float
    record_ids: tuple[RecordId, RecordId]


@attrs.frozen
class Findings:
    """The duplicates and merges of one project."""

    records: list[MemoryRecord]
    pairs: list[Pair]
    merges: list[Replacement]


def main() -> None:
    options = read_options()
    source = options.place / "kiro-learn.db" if options.place.is_dir() else options.place
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as old, closing(sqlite3.connect(copy)) as new:
            old.backup(new)
        trio.run(report, copy, options)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path)
    parser.add_argument("--cosine", type=float, default=0.95)
    parser.add_argument("--show", type=int, default=0)
    return parser.parse_args()


async def report(path: Path, options: argparse.Namespace) -> None:
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime.now(UTC))
    try:
        projects = await storage.list_projects()
        found = [await look_at(storage, project.namespace, options.cosine) for project in projects]
    finally:
        await storage.close()
    print(json.dumps(in_figures(found, options.cosine), indent=2))
    for findings in found:
        show(findings, options.show)


async def look_at(storage: StorageBackend, namespace: Namespace, cosine: float) -> Findings:
    records = [record async for record in all_records(storage, namespace)]
    merges: dict[str, Replacement] = {}
    for record in records:
        merges |= {merge.replacement_id: merge for merge in await storage.list_replacements(record.record_id)}
    return Findings(records, pairs_in(await storage.list_embeddings(namespace), cosine), list(merges.values()))


async def all_records(storage: StorageBackend, namespace: Namespace) -> AsyncIterator[MemoryRecord]:
    offset = 0
    while page := (await storage.list_memory_records(namespace=namespace, limit=PAGE, offset=offset)).items:
        for record in page:
            yield record
        offset += len(page)


def pairs_in(table: EmbeddingTable, cosine: float) -> list[Pair]:
    """The pairs, the closest first. Only vectors of whole records are compared: the first row of each record."""
    counts = np.array(table.row_counts, np.intp)
    units = unit_rows(table.vectors[np.cumsum(counts) - counts])
    found: list[Pair] = []
    for row, unit in enumerate(units):
        cosines = units[row + 1 :] @ unit
        found += [
            Pair(float(cosines[place]), (table.record_ids[row], table.record_ids[row + 1 + place]))
            for place in np.flatnonzero(cosines >= cosine).tolist()
        ]
    return sorted(found, key=lambda pair: (-pair.cosine, pair.record_ids))


def in_figures(found: list[Findings], cosine: float) -> dict[str, Any]:
    records = [record for findings in found for record in findings.records]
    pairs = sum(len(findings.pairs) for findings in found)
    merges = [merge for findings in found for merge in findings.merges]
    return {
        "projects": len(found),
        "records": len(records),
        "strategies": Counter(record.strategy for record in records),
        f"pairs at cosine {cosine} or more": pairs,
        "pairs in percent of records": round(100 * pairs / max(len(records), 1), 2),
        "merges": len(merges),
        "records replaced": sum(len(merge.replaced) for merge in merges),
    }


def show(findings: Findings, count: int) -> None:
    by_id = {record.record_id: record for record in findings.records}
    for pair in findings.pairs[:count]:
        print(f"\n=== left apart, cosine {pair.cosine:.4f}")
        for record_id in pair.record_ids:
            print(*in_full(by_id[record_id]), sep="\n")
    for merge in findings.merges[:count]:
        print(f"\n=== merged into {', '.join(merge.replacing)}")
        for record in merge.replaced:
            print(*in_full(record), sep="\n")


def in_full(record: MemoryRecord) -> Iterator[str]:
    yield f"--- {record.record_id} {record.strategy} {record.created_at:%Y-%m-%d %H:%M} {record.title}"
    yield record.summary
    yield from (f"  - {fact}" for fact in record.facts)
    if record.files_touched:
        yield f"  files: {', '.join(record.files_touched)}"


if __name__ == "__main__":
    main()
