"""How long does it take to learn one more fact about a thing with thousands of facts?

    python benchmarks/graph_large.py [--facts 20000]

Fills a file with one project that uses so many tools, each an entity with its edge. Then it commits one more fact at a
time, of five sorts, each in a transaction of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.draft import GraphDrafts
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.testing.simulation import in_place
from kiro_learn.testing.storage import transact_one
from tests.unit.learning.graph.graphs import Numbers, said
from tests.unit.learning.graph.test_large_graph import known_of
from tests.unit.storage.builders import MINE

ROUNDS = 20


async def measure(path: Path, fact_count: int) -> None:
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime.now(UTC))
    learner = GraphLearner(clock=cast("ClockAndIds", Numbers()), offload=in_place, enabled=True)
    items = known_of(fact_count)
    await transact_one(storage, lambda transaction: transaction.put_graph_items(items))
    print(f"{fact_count:,} facts of one subject", flush=True)
    sorts: dict[str, Any] = {
        "one more": lambda number: said(number, "uses", f"new {number}"),
        "confirmed": lambda number: said(number, "uses", f"tool-{number}"),
        "denied": lambda number: said(number, "uses", f"tool-{number}", is_denied=True),
        "replaced": lambda number: said(number, "uses", f"other {number}", replaces=f"tool-{number}"),
        "a port": lambda number: said(number, "listens_on_port", f"{8000 + number}"),
    }
    day = 10
    for name, draft in sorts.items():
        took: list[float] = []
        for _ in range(ROUNDS):
            day += 1
            drafts = GraphDrafts(facts=[draft(day)])
            begun = time.perf_counter()
            await transact_one(storage, lambda transaction: learner.commit(transaction, MINE, drafts))  # noqa: B023  # called at once
            took.append(1_000 * (time.perf_counter() - begun))
        took.sort()
        print(f"  {name:10} median {took[ROUNDS // 2]:5.1f} ms, most {took[-1]:5.1f} ms", flush=True)
    await storage.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--facts", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trio.run(measure, Path(folder) / "kiro-learn.db", given.facts)


if __name__ == "__main__":
    main()
