"""How long does upgrading a database of the first kiro-learn take, and how much disk and memory does it need?

    python benchmarks/upgrade.py [--megabytes 550 2300] [--folder FOLDER]

Makes a database of that size as the first kiro-learn left it (migrations 1 to 5): events of 3 kB in 40 projects, a
record with its vector and its words for every ten of them, a buffer in files. Then runs ``kiro-learn start`` on it and
watches from outside: the notice that the daemon keeps of its upgrade, the files of the home, the memory of the process.
The baseline is a plain copy of the file, flushed to the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.client.address import FILE

FIRST = datetime(2025, 6, 1, tzinfo=UTC)
PROJECTS = 40
EVENTS_PER_RECORD = 10
EVENTS_AT_A_TIME = 2_000
BUFFERED = 500
LEARNING_NEVER = {
    "KIRO_LEARN_LEARNING_EXTRACTION_BYTES": str(2**30),
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3600",
    "KIRO_LEARN_COMPACTION_CEILING_BYTES": str(2**30),
    "KIRO_LEARN_EMBEDDING_ENABLED": "false",
    "KIRO_LEARN_LLM_BACKEND": "extractive",
}
WORDS = [f"{first}{last}" for first in ("cache", "token", "index", "queue", "parse") for last in ("", "s", "r", "Key")]
SOURCE = json.dumps({"surface": "kiro-cli", "version": "0.16.0", "client_id": "bench"})
PUT_EVENT = """
    INSERT INTO events (event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time,
                        transaction_time, source_json, project_path)
    VALUES (?, ?, 'bench', ?, 1, 'tool_use', ?, ?, ?, ?, ?)
"""
PUT_RECORD = """
    INSERT INTO memory_records (record_id, namespace, strategy, title, summary, facts_json, source_event_ids_json,
                                created_at, concepts_json, files_touched_json, observation_type, embedding)
    VALUES (?, ?, 'llm-summary', ?, ?, ?, ?, ?, ?, '["src/app.ts"]', 'discovery', ?)
"""
PUT_WORDS = "INSERT INTO memory_records_fts (record_id, namespace, title, summary, facts_text) VALUES (?, ?, ?, ?, ?)"


def namespace(number: int) -> str:
    return f"/actor/bench/project/{number % PROJECTS:064x}/"


def moment(number: int) -> str:
    return (FIRST + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text(dice: random.Random, characters: int) -> str:
    return " ".join(dice.choices(WORDS, k=characters // 7))


def event_rows(dice: random.Random, start: int) -> Iterator[tuple[Any, ...]]:
    for number in range(start, start + EVENTS_AT_A_TIME):
        body = {"type": "json", "data": {"tool_name": "read", "tool_input": {}, "tool_response": text(dice, 2_800)}}
        times = (moment(number), moment(number + 1))
        folder = f"/home/bench/project-{number % PROJECTS}"
        yield (f"{number:026d}", f"s{number // 50}", namespace(number), json.dumps(body), *times, SOURCE, folder)


def put_records(database: apsw.Connection, dice: random.Random, start: int) -> None:
    vectors = np.random.default_rng(start).standard_normal((EVENTS_AT_A_TIME, 384)).astype(np.float32)
    for number in range(start, start + EVENTS_AT_A_TIME, EVENTS_PER_RECORD):
        record_id, title, summary = f"mr_{number:026d}", text(dice, 60), text(dice, 400)
        facts = [text(dice, 90) for _ in range(4)]
        sources = json.dumps([f"{number:026d}"])
        values = (json.dumps(facts), sources, moment(number), json.dumps([WORDS[number % 7]]))
        database.execute(
            PUT_RECORD, (record_id, namespace(number), title, summary, *values, vectors[number - start].tobytes())
        )
        database.execute(PUT_WORDS, (record_id, namespace(number), title, summary, " ".join(facts)))


def make(home: Path, megabytes: int) -> int:
    """Make the home; returns how many events it has."""
    dice = random.Random(megabytes)
    path = home / "kiro-learn.db"
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    migrate(database, MIGRATIONS[:5], utc_now=lambda: FIRST)
    count = 0
    while database.pragma("page_count") * database.pragma("page_size") < megabytes * 1_000_000:
        with database:
            database.executemany(PUT_EVENT, event_rows(dice, count))
            put_records(database, dice, count)
        count += EVENTS_AT_A_TIME
    database.close()
    buffer = home / "buffers" / f"{0:064x}" / "buffer.ndjson"
    buffer.parent.mkdir(parents=True)
    waiting = [number for number in range(count - BUFFERED * PROJECTS, count) if number % PROJECTS == 0]
    lines = [json.dumps({"event_id": f"{number:026d}", "namespace": namespace(number)}) for number in waiting]
    buffer.write_text("\n".join(lines))
    return count


def copied_seconds(path: Path) -> float:
    began = time.perf_counter()
    with path.open("rb") as source, tempfile.NamedTemporaryFile(dir=path.parent) as target:
        shutil.copyfileobj(source, target, 1 << 20)
        os.fsync(target.fileno())
    return time.perf_counter() - began


def watched(home: Path) -> dict[str, Any]:
    """Start the daemon; returns its times and sizes, seen from outside."""
    environment = {**os.environ, **LEARNING_NEVER, "KIRO_LEARN_HOME": str(home)}
    command = [sys.executable, "-m", "kiro_learn", "start", "--port", "0"]
    began, stages = time.perf_counter(), dict.fromkeys(("backup", "check", "migration", "commit"), 0.0)
    most_room = most_rss = 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as starting:
        last = time.perf_counter()
        while starting.poll() is None:
            time.sleep(0.05)
            now = time.perf_counter()
            stage = stage_of(home)
            if stage:
                stages[stage] += now - last
            last = now
            most_room = max(most_room, room_of(home))
            most_rss = max(most_rss, rss_of(home))
        assert starting.returncode == 0, starting.stderr and starting.stderr.read()
    return {"seconds": time.perf_counter() - began, "room": most_room, "rss": most_rss, **stages}


def stage_of(home: Path) -> str:
    try:
        return str(json.loads((home / FILE).read_bytes())["stage"])
    except (OSError, ValueError):
        return ""


def room_of(home: Path) -> int:
    total = 0
    for path in (*home.glob("kiro-learn.db*"), *home.glob("backups/*")):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def rss_of(home: Path) -> int:
    try:
        pid = int((home / "daemon.lock").read_text().split()[0])
        return int(psutil.Process(pid).memory_info().rss)
    except (OSError, ValueError, psutil.Error):
        return 0


def measure(folder: Path, megabytes: int) -> None:
    home = folder / f"upgrade-{megabytes}"
    home.mkdir(mode=0o700)
    try:
        events = make(home, megabytes)
        size = (home / "kiro-learn.db").stat().st_size
        copy = copied_seconds(home / "kiro-learn.db")
        found = watched(home)
        subprocess.run(
            [sys.executable, "-m", "kiro_learn", "stop"], env={**os.environ, "KIRO_LEARN_HOME": str(home)}, check=True
        )
        database = apsw.Connection(str(home / "kiro-learn.db"))
        counts = [database.execute(f"SELECT count(*) FROM {table}").get for table in ("events", "buffer")]  # noqa: S608  # our own names
        assert counts == [events, BUFFERED], counts
        print(f"{size / 1e6:,.0f} MB, {events:,} events, {events // EVENTS_PER_RECORD:,} records")
        print(f"  plain copy {copy:.1f} s; start until it answers {found['seconds']:.1f} s, of which")
        stages = ("backup", "check", "migration", "commit")
        print("  " + ", ".join(f"{stage} {found[stage]:.1f} s" for stage in stages))
        print(f"  files at most {found['room'] / 1e6:,.0f} MB, after it {room_of(home) / 1e6:,.0f} MB with the copy")
        print(f"  memory at most {found['rss'] / 1e6:,.0f} MB")
    finally:
        shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, nargs="+", default=[550, 2300])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    for megabytes in given.megabytes:
        measure(given.folder, megabytes)


if __name__ == "__main__":
    main()
