"""How many events a second are acknowledged as durable, and how long does each wait?

    python benchmarks/ingest.py [--connections 8] [--seconds 10]

Starts a real daemon in an empty home; each connection is a client process of its own that sends a 2 kB tool event and
waits for the answer, again and again. Prints one JSON object. Baseline in the same run: GET /healthz over the same
connections, which costs the protocol and nothing else.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import platform
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import running_daemon

OUTPUT = "ok  internal/store/index.go:41: 128 rows in 3.1 ms\n" * 36
Answer = tuple[int, list[float]]


def event(client: int, number: int) -> bytes:
    return json.dumps(
        {
            "event_id": f"0{client}{number:024d}",
            "session_id": f"session-{client}",
            "actor_id": "bench",
            "namespace": f"/actor/bench/project/{'d' * 64}/",
            "schema_version": 1,
            "kind": "tool_use",
            "body": {
                "type": "json",
                "data": {"tool_name": "Bash", "tool_input": {"command": "go test ./..."}, "tool_response": OUTPUT},
            },
            "valid_time": "2026-01-05T12:00:00Z",
            "source": {"surface": "kiro-cli", "version": "1", "client_id": "bench", "project_path": "/shop"},
        }
    ).encode()


def client(number: int, address: str, token: str, seconds: float, *, is_baseline: bool) -> Answer:
    """Send until the time is up; how many were acknowledged, and what each took, in milliseconds."""
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    times: list[float] = []
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        if is_baseline:
            connection.request("GET", "/healthz")
        else:
            connection.request("POST", "/v1/events", event(number, len(times)), headers)
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        times.append((time.perf_counter() - began) * 1000)
    return len(times), times


def measure(address: str, token: str, connections: int, seconds: float, *, is_baseline: bool) -> dict[str, Any]:
    with multiprocessing.get_context("spawn").Pool(connections) as pool:
        jobs = [
            pool.apply_async(client, (number, address, token, seconds), {"is_baseline": is_baseline})
            for number in range(connections)
        ]
        answers = [job.get() for job in jobs]
    times = sorted(each for _, own in answers for each in own)
    return {
        "per_second": round(len(times) / seconds),
        "ms_p50": round(times[len(times) // 2], 1),
        "ms_p99": round(times[int(0.99 * len(times))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_daemon(Path(folder)) as daemon:
        address = (Path(folder) / "daemon.address").read_text().strip()
        arguments = (address, daemon.token, options.connections, options.seconds)
        results = {
            "baseline_healthz": measure(*arguments, is_baseline=True),
            "durable_events": measure(*arguments, is_baseline=False),
        }
        daemon.stop()
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores",
        "python": platform.python_version(),
        "connections": options.connections,
    }
    print(json.dumps({**about, **results}, indent=2))


if __name__ == "__main__":
    main()
