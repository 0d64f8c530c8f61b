"""How long does it take to let go of old content, and how long do a prompt and a write wait meanwhile?

    python benchmarks/retention.py [--events 200000] [--records 20000] [--folder FOLDER]

Makes a home with so many events of 1.5 kB, in sessions of 50 and four projects, all learned a year ago, and with
records that cite them, each with a vector. Then a daemon that embeds nothing runs on it. One client asks prompts and
another one puts events, one after the other, in three rounds: while nothing else is done (the baseline), while contents
and details go by age (``POST /api/retention``), and while the file is rewritten without its free space. Another daemon
is told to stop in the middle of each of the latter two.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.event import Event, EventKind, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.model.vectors import DIMENSION
from kiro_learn.ports.storage.interface import StorageTransaction
from tests.integration.daemon_process import DaemonProcess, call, running_daemon

PROJECTS = 4
EVENTS_A_SESSION = 50
EVENT_CHARACTERS = 1_500
RECORD_CHARACTERS = 1_200
EVENTS_AT_A_TIME = 1_000
BASELINE_SECONDS = 15.0
FIRST = datetime(2025, 1, 6, 12, 0, tzinfo=UTC)
SOURCE = Source(surface="kiro-cli", version="1", client_id="bench")
WORDS = [f"{first}{last}" for first in ("cache", "token", "index", "queue", "parse") for last in ("", "s", "r", "Key")]
WORDS += [f"word{number}" for number in range(5_000)]
NOTHING_ELSE = {
    "KIRO_LEARN_LEARNING_EXTRACTION_BYTES": str(2**30),
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3600",
    "KIRO_LEARN_COMPACTION_CEILING_BYTES": str(2**30),
    "KIRO_LEARN_EMBEDDING_ENABLED": "false",
}
NEVER_REWRITTEN = NOTHING_ELSE | {"KIRO_LEARN_RETENTION_REWRITE_BYTES": "0"}
REWRITTEN = NOTHING_ELSE | {"KIRO_LEARN_RETENTION_REWRITE_BYTES": "1"}
GOES = {"event_days": 30, "distill_days": 90}
STOP_SECONDS = 120.0

_numbers = itertools.count(time.time_ns())


def namespace(number: int) -> Namespace:
    return namespace_of("bench", f"{number // EVENTS_A_SESSION % PROJECTS:064x}")


def text(dice: random.Random, characters: int) -> str:
    return ". ".join(" ".join(dice.choices(WORDS, k=12)) for _ in range(characters // 100 + 1))[:characters]


def event_of(dice: random.Random, number: int) -> Event:
    return Event(
        event_id=EventId(f"{number:026d}"),
        session_id=f"s{number // EVENTS_A_SESSION}",
        actor_id="bench",
        namespace=namespace(number),
        schema_version=1,
        kind=EventKind.PROMPT if number % EVENTS_A_SESSION == 0 else EventKind.TOOL_USE,
        body=TextBody(text(dice, EVENT_CHARACTERS)),
        valid_time=FIRST + timedelta(seconds=number),
        source=SOURCE,
    )


def record_of(dice: random.Random, number: int) -> MemoryRecord:
    return MemoryRecord(
        record_id=RecordId(f"mr_{number:026d}"),
        namespace=namespace(number),
        strategy="llm-summary",
        title=text(dice, 60),
        summary=text(dice, RECORD_CHARACTERS),
        facts=tuple(text(dice, 100) for _ in range(4)),
        observation_type=ObservationType.DISCOVERY,
        source_event_ids=(EventId(f"{number:026d}"),),
        created_at=FIRST + timedelta(seconds=number),
        importance=5,
    )


async def fill(path: Path, event_count: int, record_count: int) -> None:
    dice, every = random.Random(event_count), event_count // record_count
    vectors = np.random.default_rng(1).standard_normal((EVENTS_AT_A_TIME, DIMENSION)).astype(np.float32)
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: FIRST)

    def put(start: int, transaction: StorageTransaction) -> None:
        for number in range(start, min(start + EVENTS_AT_A_TIME, event_count)):
            transaction.put_event(event_of(dice, number), buffered=False)
            if number % every == every - 1:
                record = record_of(dice, number)
                transaction.put_memory_record(record)
                transaction.put_embedding(record.record_id, vectors[number % EVENTS_AT_A_TIME][np.newaxis])

    for start in range(0, event_count, EVENTS_AT_A_TIME):
        await storage.transact([partial(put, start)])
    await storage.close()


class Client:
    """Sends requests one after the other for the length of a block; ``waits`` are milliseconds."""

    def __init__(self, daemon: DaemonProcess, path: str, kind: str) -> None:
        self.waits: list[float] = []
        self._daemon, self._path, self._kind = daemon, path, kind
        self._ended = threading.Event()
        self._dice = random.Random(kind)

    def _run(self) -> None:
        connection = self._daemon.connect(timeout_seconds=600)
        while not self._ended.wait(0.02):
            began = time.perf_counter()
            status, answer = call(connection, self._daemon.token, "POST", self._path, self._event())
            assert status < 300, answer
            self.waits.append((time.perf_counter() - began) * 1000)

    def _event(self) -> dict[str, Any]:
        number = next(_numbers)
        return {
            "event_id": f"1{number:025d}",
            "session_id": f"bench-{number}",
            "actor_id": "bench",
            "namespace": namespace(number),
            "schema_version": 1,
            "kind": self._kind,
            "body": {"type": "text", "content": text(self._dice, 80)},
            "valid_time": "2026-11-23T12:00:00Z",
            "source": {"surface": "kiro-cli", "version": "1", "client_id": "bench"},
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def spread(self) -> str:
        ordered = sorted(self.waits)
        shares = (f"p{share} {ordered[min(len(ordered) - 1, len(ordered) * share // 100)]:,.0f}" for share in (50, 99))
        return f"{', '.join(shares)}, most {ordered[-1]:,.0f} ms of {len(ordered)}"


class Watch:
    """The most memory that a process has, by a look every moment."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self._process = psutil.Process(daemon.process.pid)
        self.before = self.most = self._process.memory_info().rss
        self._ended = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _run(self) -> None:
        while not self._ended.wait(0.02):
            self.most = max(self.most, self._process.memory_info().rss)


def asked(daemon: DaemonProcess, method: str, path: str, body: Any = None) -> Any:
    connection = daemon.connect(timeout_seconds=600)
    status, answer = call(connection, daemon.token, method, path, body)
    assert status == 200, answer
    return answer


def round_of(name: str, daemon: DaemonProcess, work: Callable[[], Any]) -> Any:
    """Do ``work`` while prompts and events come, and print all times."""
    prompts = Client(daemon, "/v1/events?retrieve=true", "prompt")
    writes, watch = Client(daemon, "/v1/events", "tool_use"), Watch(daemon)
    with watch.running(), prompts.running(), writes.running():
        began = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - began
    print(f"{name}: {seconds:.1f} s; memory {watch.before / 1e6:,.0f} MB, at most {watch.most / 1e6:,.0f} MB")
    print(f"  prompts {prompts.spread()}")
    print(f"  writes  {writes.spread()}", flush=True)
    return found


def stopped_seconds(home: Path, settings: dict[str, str], body: dict[str, int], *, after_seconds: float) -> float:
    """How long a daemon takes to stop, ``after_seconds`` after it began to let go of old content."""
    with running_daemon(home, settings) as daemon:
        connection = daemon.connect()
        headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
        connection.request("POST", "/api/retention", json.dumps(body), headers)
        time.sleep(after_seconds)
        began = time.perf_counter()
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.communicate(timeout=STOP_SECONDS)
        return time.perf_counter() - began


def measure(folder: Path, event_count: int, record_count: int) -> None:
    home = folder / "retention"
    home.mkdir(mode=0o700)
    path = home / "kiro-learn.db"
    query = "&".join(f"{name}={days}" for name, days in GOES.items())
    try:
        trio.run(fill, path, event_count, record_count)
        print(f"{event_count:,} events, {record_count:,} records, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        with running_daemon(home, NEVER_REWRITTEN) as daemon:
            round_of("nothing else", daemon, lambda: time.sleep(BASELINE_SECONDS))
            shown = round_of("preview", daemon, lambda: asked(daemon, "GET", f"/api/retention?{query}"))
            print(f"  {shown['events']['count']:,} events, {shown['memories']['count']:,} memories")
            daemon.stop()
        print(f"stop in the middle: {stopped_seconds(home, NEVER_REWRITTEN, GOES, after_seconds=4):.1f} s")
        with running_daemon(home, NEVER_REWRITTEN) as daemon:
            went = round_of("apply, the rest", daemon, lambda: asked(daemon, "POST", "/api/retention", GOES))
            print(f"  {went['events']['count']:,} events, {went['memories']['count']:,} memories")
            daemon.stop()
        shutil.copy(path, folder / "emptied.db")
        print(f"stop while it is rewritten: {stopped_seconds(home, REWRITTEN, {}, after_seconds=0.5):.1f} s")
        (folder / "emptied.db").replace(path)
        with running_daemon(home, REWRITTEN) as daemon:
            went = round_of("rewritten", daemon, lambda: asked(daemon, "POST", "/api/retention", {}))
            print(f"  {went['is_rewritten']}, {went['free_bytes'] / 1e6:,.0f} of {went['file_bytes'] / 1e6:,.0f} MB")
            daemon.stop()
    finally:
        shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    measure(given.folder, given.events, given.records)


if __name__ == "__main__":
    main()
