"""What does the daemon cost? Seconds until it answers, memory with the model in use, processor time while idle.

    python benchmarks/daemon.py [--idle-seconds 20]

Starts a real daemon in an empty home, as a service manager would, several times. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess, running_daemon

STARTS = 7
RECORDS = 200
WORDS = ("cache", "token", "parser", "retry", "schema", "index", "budget", "daemon", "socket", "migration", "buffer")


def seconds_until_ready(home: Path) -> float:
    """From the start of the process to the first answer of ``GET /healthz``."""
    began = time.perf_counter()
    daemon = DaemonProcess(home, {})
    try:
        daemon.wait_ready()
        daemon.call("GET", "/healthz")
        return time.perf_counter() - began
    finally:
        daemon.stop()


def record(number: int) -> dict[str, Any]:
    """A record long enough to fill the model's 256 tokens."""
    text = " ".join(WORDS[(number * 7 + step * step) % len(WORDS)] for step in range(300))
    return {
        "record_id": f"mr_0{number:025d}",
        "namespace": f"/actor/bench/project/{'c' * 64}/",
        "strategy": "bench",
        "title": f"record {number}",
        "summary": text,
        "observation_type": "discovery",
        "source_event_ids": [f"0{number:025d}"],
        "created_at": "2026-01-01T00:00:00Z",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle-seconds", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        starts = [seconds_until_ready(home) for _ in range(STARTS)]
        with running_daemon(home) as daemon:
            process = psutil.Process(daemon.process.pid)
            for number in range(RECORDS):
                daemon.call("POST", "/v1/memories", record(number))
            embedded = daemon.call("POST", "/v1/embeddings/backfill", {})["embedded"]
            rss_bytes = process.memory_info().rss
            time.sleep(2.0)
            before = process.cpu_times()
            time.sleep(options.idle_seconds)
            after = process.cpu_times()
            busy = after.user + after.system - before.user - before.system
            began = time.perf_counter()
            daemon.stop()
            stop_seconds = time.perf_counter() - began
    print(
        json.dumps(
            {
                "date": datetime.now(UTC).date().isoformat(),
                "machine": f"{platform.machine()}, {psutil.cpu_count()} cores, {cpu_name()}",
                "python": platform.python_version(),
                "ready_seconds_median": round(statistics.median(starts), 2),
                "ready_seconds_first": round(starts[0], 2),
                "ready_seconds_worst": round(max(starts), 2),
                "embedded": embedded,
                "rss_mb_after_embedding": round(rss_bytes / 1e6),
                "idle_cpu_percent": round(100 * busy / options.idle_seconds, 2),
                "stop_seconds": round(stop_seconds, 2),
            },
            indent=2,
        )
    )


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607  # uname is the system's


if __name__ == "__main__":
    main()
