"""How long does a prompt wait, in a project of that many memories?

    python benchmarks/prompt.py [--records 1000,10000] [--text FOLDER]

Starts a real daemon in an empty home, imports records made of real text (the documentation and sources that lie below
FOLDER; by default the standard library of this Python), waits until each has its vector, then asks prompts one by one
over a kept connection, as the hook does, and prints the round trips. Baseline in the same run: GET /healthz.
"""

from __future__ import annotations

import argparse
import http.client
import json
import platform
import random
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess, call, running_daemon

SEED = 20261121
PROMPTS = 200
NAMESPACE = f"/actor/bench/project/{'e' * 64}/"
IMPORT_COUNT = 200
WORDS_A_RECORD = 90
WORDS_A_PROMPT = 12


def passages(folder: Path, count: int) -> list[str]:
    """``count`` different pieces of text, in an order that the seed decides."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.py")):
        words = re.findall(r"\S+", path.read_text(encoding="utf-8", errors="ignore"))
        found += [
            " ".join(words[at : at + WORDS_A_RECORD]) for at in range(0, len(words) - WORDS_A_RECORD, WORDS_A_RECORD)
        ]
        if len(found) > 4 * count:
            break
    return random.Random(SEED).sample(found, count)


def records(texts: list[str], first: int) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(texts, start=first):
        yield {
            "record_id": f"mr_0{number:025d}",
            "namespace": NAMESPACE,
            "strategy": "bench",
            "title": text[:80],
            "summary": text[:1500],
            "observation_type": "discovery",
            "source_event_ids": [f"0{number:025d}"],
            "created_at": "2026-01-01T00:00:00Z",
        }


def prompt(number: int, text: str) -> dict[str, Any]:
    dice = random.Random(number)
    words = re.findall(r"\w+", text)
    asked = " ".join(dice.sample(words, min(WORDS_A_PROMPT, len(words))))
    return {
        "event_id": f"1{number:025d}",
        "session_id": "bench",
        "actor_id": "bench",
        "namespace": NAMESPACE,
        "schema_version": 1,
        "kind": "prompt",
        "body": {"type": "text", "content": asked},
        "valid_time": "2026-01-05T12:00:00Z",
        "source": {"surface": "kiro-cli", "version": "1", "client_id": "bench"},
    }


def import_all(daemon: DaemonProcess, texts: list[str], first: int) -> None:
    connection = daemon.connect(timeout_seconds=600)
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/x-ndjson"}
    lines = [json.dumps(record) for record in records(texts, first)]
    for start in range(0, len(lines), IMPORT_COUNT):
        connection.request("POST", "/v1/memories/import", "\n".join(lines[start : start + IMPORT_COUNT]), headers)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        response.read()
    connection.close()
    while (state := daemon.call("GET", "/v1/embeddings/stats"))["embedded"] < state["total"]:
        time.sleep(1.0)


def timed(count: int, ask: Callable[[int], None]) -> dict[str, float]:
    times = []
    for number in range(count):
        began = time.perf_counter()
        ask(number)
        times.append((time.perf_counter() - began) * 1000)
    ordered = sorted(times)
    return {f"ms_p{share}": round(ordered[min(count - 1, count * share // 100)], 1) for share in (50, 95, 99)}


def measure(daemon: DaemonProcess, texts: list[str]) -> dict[str, Any]:
    connection: http.client.HTTPConnection = daemon.connect()

    def ask(number: int) -> None:
        asked = prompt(time.time_ns() % 10**20, texts[number % len(texts)])
        status, answer = call(connection, daemon.token, "POST", "/v1/events?retrieve=true", asked)
        assert status == 200, answer
        assert not answer["retrieval"]["degraded"], answer

    def healthz(_number: int) -> None:
        assert call(connection, daemon.token, "GET", "/healthz")[0] == 200

    found = {"baseline_healthz": timed(PROMPTS, healthz), "first_prompt": timed(1, ask), "prompt": timed(PROMPTS, ask)}
    connection.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="1000")
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    counts = [int(count) for count in options.records.split(",")]
    texts = passages(options.text, max(counts))
    results: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores",
        "python": platform.python_version(),
        "seed": SEED,
    }
    kept = 0
    with tempfile.TemporaryDirectory() as folder, running_daemon(Path(folder)) as daemon:
        for count in counts:
            import_all(daemon, texts[kept:count], kept)
            kept = count
            results[f"{count}_records"] = measure(daemon, texts[:count])
        results["rss_mb"] = round(psutil.Process(daemon.process.pid).memory_info().rss / 1e6)
        daemon.stop()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
