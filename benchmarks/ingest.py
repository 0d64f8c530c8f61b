"""How many events a second are acknowledged as durable, how long does each wait, and what does it cost the daemon?

    python benchmarks/ingest.py [--connections 8] [--seconds 10]

Starts a real daemon in an empty home. One client process holds every keep-alive connection on a plain socket. It only
puts the id into a prepared tool event of 2 kB: it shares the daemon's cores, so its own time is printed too. A
connection sends its next event when the answer to the last one is there, like an agent that never rests.

Five rounds: ``GET /healthz`` over the same connections (the baseline, which measures only the protocol); events while
nothing is learned; the same events as hooks report them, whose project is looked for in the file system; the same in
batches of 500, which count as 500 each; and events while the project learns, which takes time of the same cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import selectors
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count, repeat
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.client import hook
from tests.integration.daemon_process import DaemonProcess, running_daemon

OUTPUT = "ok  internal/store/index.go:41: 128 rows in 3.1 ms\n" * 36
ID = "0" * 26
LEARNING_NEVER = {
    "KIRO_LEARN_LEARNING_EXTRACTION_BYTES": str(2**30),
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3600",
    "KIRO_LEARN_COMPACTION_CEILING_BYTES": str(2**30),  # else half of the waiting events are set aside
}
WARM_UP_SECONDS = 1.0
BATCH_COUNT = 500
BATCH_CONNECTIONS = 2


def event() -> bytes:
    return json.dumps(
        {
            "event_id": ID,
            "session_id": "session-1",
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


def posts(address: str, token: str) -> Iterator[bytes]:
    """Requests that differ only in the id of their event."""
    body = event()
    head = (
        f"POST /v1/events HTTP/1.1\r\nHost: {address}\r\nAccept-Encoding: identity\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    before, after = (head + body).split(ID.encode())
    return (before + b"0%025d" % number + after for number in count())


def reports(address: str, token: str) -> Iterator[bytes]:
    """The shim's requests, without ``Connection: close``: the same tool use, in an agent's form."""
    data = json.loads(event())["body"]["data"]
    body = json.dumps(
        {"hook_event_name": "PostToolUse", "session_id": "session-1", "cwd": tempfile.gettempdir(), **data}
    ).encode()
    head = hook.request_head("claude-code", "", "1" + ID[1:], time.time_ns(), len(body), len(body)).encode()
    rest = f"\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n".encode() + body
    before, after = head.split(b"1" + ID[1:].encode())
    return (before + b"1%025d" % number + after + rest for number in count())


def batches(address: str, token: str) -> Iterator[bytes]:
    """Requests of ``BATCH_COUNT`` events each, with different ids."""
    before, after = event().split(ID.encode())
    for number in count():
        ids = range(number * BATCH_COUNT, (number + 1) * BATCH_COUNT)
        body = b"\n".join(before + b"2%025d" % each + after for each in ids)
        head = (
            f"POST /v1/events/batch HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        yield head.encode() + body


def gets(address: str) -> Iterator[bytes]:
    return repeat(f"GET /healthz HTTP/1.1\r\nHost: {address}\r\nAccept-Encoding: identity\r\n\r\n".encode())


class Connection:
    """A socket with one request under way."""

    def __init__(self, address: str, *, source: str = "") -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._began = 0.0
        self._answer = b""

    def send(self, request: bytes) -> None:
        self._began, self._answer = time.perf_counter(), b""
        self.socket.sendall(request)

    def milliseconds(self) -> float | None:
        """Read from the socket; returns the milliseconds of the answer if it is complete."""
        self._answer += self.socket.recv(1_048_576)
        head, end, body = self._answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), self._answer[:500]
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        return (time.perf_counter() - self._began) * 1000 if end and len(body) == int(length) else None


def milliseconds_of_each(connections: list[Connection], requests: Iterator[bytes], seconds: float) -> list[float]:
    """Send until the time is up or all is sent, then wait for the open answers."""
    times: list[float] = []
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(next(requests))
        waiting, until = len(connections), time.perf_counter() + seconds
        while waiting:
            for key, _ in selector.select():
                took = key.data.milliseconds()
                if took is not None:
                    times.append(took)
                    following = next(requests, None) if time.perf_counter() < until else None
                    if following is not None:
                        key.data.send(following)
                    else:
                        waiting -= 1
    return times


def measure(
    daemon: DaemonProcess,
    address: str,
    requests: Iterator[bytes],
    options: argparse.Namespace,
    *,
    batch_count: int = 1,
) -> Any:
    """The figures of one round. They are for each event, but times are those of requests."""
    connection_count = options.connections if batch_count == 1 else BATCH_CONNECTIONS
    connections = [Connection(address) for _ in range(connection_count)]
    milliseconds_of_each(connections, requests, WARM_UP_SECONDS)
    process, client = psutil.Process(daemon.process.pid), psutil.Process(os.getpid())
    before = busy_seconds(process), busy_seconds(client), time.perf_counter()
    times = sorted(milliseconds_of_each(connections, requests, options.seconds))
    daemon_seconds, client_seconds, seconds = (
        after - start
        for after, start in zip((busy_seconds(process), busy_seconds(client), time.perf_counter()), before, strict=True)
    )
    for connection in connections:
        connection.socket.close()
    return {
        "per_second": round(batch_count * len(times) / seconds),
        "ms_p50": round(times[len(times) // 2], 1),
        "ms_p99": round(times[int(0.99 * len(times))], 1),
        "ms_worst": round(times[-1], 1),
        "daemon_processor_ms_each": round(1000 * daemon_seconds / len(times) / batch_count, 3),
        "daemon_cores": round(daemon_seconds / seconds, 2),
        "client_cores": round(client_seconds / seconds, 2),
    }


def busy_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def rounds(options: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name, settings in (("learning idle", LEARNING_NEVER), ("learning busy", {})):
        with tempfile.TemporaryDirectory() as folder, running_daemon(Path(folder), settings) as daemon:
            address = (daemon.home / "daemon.address").read_text().strip()
            if not results:
                results["baseline, healthz"] = measure(daemon, address, gets(address), options)
            results[f"events, {name}"] = measure(daemon, address, posts(address, daemon.token), options)
            if settings is LEARNING_NEVER:
                results[f"reports of hooks, {name}"] = measure(daemon, address, reports(address, daemon.token), options)
                results[f"batches of {BATCH_COUNT}, {name}"] = measure(
                    daemon, address, batches(address, daemon.token), options, batch_count=BATCH_COUNT
                )
            daemon.stop()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before",
        "python": platform.python_version(),
        "connections": options.connections,
    }
    print(json.dumps({**about, **rounds(options)}, indent=2))


if __name__ == "__main__":
    main()
