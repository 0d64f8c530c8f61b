"""Does learning slow asking?

    python benchmarks/learning.py [--pairs 4] [--seconds 8]

Starts a real daemon in an empty home and has one history of coding sessions learned. Then it asks prompts over a kept
connection, in pairs of phases. In the quiet phase, the baseline, nothing else happens. In the other phase, another
process sends sessions of a second project, so many that one learning run follows the other. Prints the round trips of
both phases and the ratio of their 95th percentiles.
"""

from __future__ import annotations

import argparse
import http.client
import inspect
import itertools
import json
import multiprocessing
import pkgutil
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess, call, running_daemon

SEED = 20261122
ASKED_PROJECT, BUSY_PROJECT = "a" * 64, "b" * 64
FIRST_TURNS = 150
TURNS_A_SECOND = 40
"""The turns of the busy project: more than are learned meanwhile, but few enough that the rest takes no minutes."""
PAUSE_SECONDS = 0.02
"""The pause between two prompts: an agent does not ask without a pause."""


@cache
def documents() -> tuple[str, ...]:
    """Docstrings of this Python's standard library, in an order that the seed decides."""
    found: list[str] = []
    for module in pkgutil.iter_modules():
        if module.name.startswith("_") or module.name not in sys.stdlib_module_names:
            continue
        path = Path(getattr(module.module_finder, "path", "")) / f"{module.name}.py"
        if path.is_file():
            found += [part for part in path.read_text(errors="ignore").split('"""')[1::2] if len(part) > 200]
    random.Random(SEED).shuffle(found)
    return tuple(inspect.cleandoc(text) for text in found)


def turn(number: int, text: str, project: str) -> Iterator[dict[str, Any]]:
    """The events of one turn of an agent: a prompt, a tool and a final answer."""
    about = " ".join(text.split()[:12])
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("prompt", {"type": "text", "content": f"How does this work: {about}?"}),
        ("tool_use", {"type": "json", "data": {"tool_name": "Read", "tool_input": {"path": f"lib/{number}.py"}}}),
        ("session_summary", {"type": "text", "content": f"{text}\n\nThe cause was {about}. Fixed in lib/{number}.py."}),
    ]
    for place, (kind, body) in enumerate(bodies):
        yield {
            "event_id": f"0{project[0].upper()}{number:021d}{place:03d}",
            "session_id": f"session-{number // 10}",
            "actor_id": "bench",
            "namespace": f"/actor/bench/project/{project}/",
            "schema_version": 1,
            "kind": kind,
            "body": body,
            "valid_time": "2026-01-05T12:00:00Z",
            "source": {"surface": "kiro-cli", "version": "1", "client_id": "bench", "project_path": "/shop"},
        }


def post(connection: http.client.HTTPConnection, token: str, event: dict[str, Any], query: str = "") -> Any:
    status, answer = call(connection, token, "POST", f"/v1/events{query}", event)
    assert status == 200, answer
    return answer


def stream(address: str, token: str, first: int, seconds: float) -> int:
    """Send turns of the busy project until the time is up; returns their count."""
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    began = time.perf_counter()
    texts = documents()
    for number in itertools.count(first):
        time.sleep(max(0.0, (number - first) / TURNS_A_SECOND - (time.perf_counter() - began)))
        if time.perf_counter() > began + seconds:
            return number - first
        for event in turn(number, texts[number % len(texts)] * 4, BUSY_PROJECT):
            post(connection, token, event)
    raise AssertionError("the numbers do not end")


@attrs.define
class Phase:
    """The prompts of one kind of phase."""

    times: list[float] = attrs.Factory(list)
    """The round trips in milliseconds."""
    partial_count: int = 0
    """The count of answers that lack a ranking, which was late."""

    def told(self) -> dict[str, float]:
        ordered = sorted(self.times)
        shares = {f"ms_p{share}": round(ordered[len(ordered) * share // 100], 1) for share in (50, 95, 99)}
        return {"prompts": len(ordered), "partial": self.partial_count, **shares}


def ask(daemon: DaemonProcess, texts: Sequence[str], numbers: Iterator[int], seconds: float, phase: Phase) -> None:
    """Ask until the time is up."""
    connection = daemon.connect()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        number = next(numbers)
        event = next(turn(number, texts[number % FIRST_TURNS], ASKED_PROJECT))
        began = time.perf_counter()
        answer = post(connection, daemon.token, event, "?retrieve=true")
        phase.times.append((time.perf_counter() - began) * 1000)
        phase.partial_count += bool(answer["retrieval"]["degraded"])
        time.sleep(PAUSE_SECONDS)
    connection.close()


def runs_since(daemon: DaemonProcess, moment: str) -> float:
    """The seconds of learning runs since ``moment``, of those that the status still shows."""
    runs = [run for run in daemon.call("GET", "/v1/status")["runs"] if run["started_at"] >= moment]
    return sum(
        (datetime.fromisoformat(run["finished_at"]) - datetime.fromisoformat(run["started_at"])).total_seconds()
        for run in runs
    )


def measure(daemon: DaemonProcess, pairs: int, seconds: float) -> dict[str, Any]:
    texts = documents()
    connection = daemon.connect()
    for number in range(FIRST_TURNS):
        for event in turn(number, texts[number], ASKED_PROJECT):
            post(connection, daemon.token, event)
    connection.close()
    daemon.call("POST", f"/v1/projects/{ASKED_PROJECT}/flush")
    address = (daemon.home / "daemon.address").read_text().strip()
    quiet, busy = Phase(), Phase()
    learning_seconds, streamed, numbers = 0.0, 0, itertools.count(FIRST_TURNS)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for _ in range(pairs):
            ask(daemon, texts, numbers, seconds, quiet)
            began = datetime.now(UTC).isoformat()
            sending = pool.apply_async(stream, (address, daemon.token, streamed, seconds))
            ask(daemon, texts, numbers, seconds, busy)
            streamed += sending.get()
            learning_seconds += runs_since(daemon, began)
            daemon.call("POST", f"/v1/projects/{BUSY_PROJECT}/flush")
    ratio = round(busy.told()["ms_p95"] / quiet.told()["ms_p95"], 2)
    return {
        "quiet": quiet.told(),
        "while_learning": busy.told() | {"turns_streamed": streamed, "seconds_in_runs": round(learning_seconds, 1)},
        "p95_ratio": ratio,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    settings = {"KIRO_LEARN_LEARNING_EXTRACTION_BYTES": "32768"}
    with tempfile.TemporaryDirectory() as folder, running_daemon(Path(folder), settings) as daemon:
        results = measure(daemon, options.pairs, options.seconds)
        daemon.stop()
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores",
        "python": platform.python_version(),
        "seed": SEED,
    }
    print(json.dumps({**about, **results}, indent=2))


if __name__ == "__main__":
    main()
