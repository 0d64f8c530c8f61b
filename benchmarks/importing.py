"""How fast are past sessions imported, in how much memory, and what does a prompt beside it wait?

    python benchmarks/importing.py [--megabytes 40] [--session-megabytes 2] [--kills 0]

Writes synthetic transcripts in the shape of Claude Code, imports them by the real command into a real daemon, and asks
a prompt four times a second meanwhile. ``--kills``: ends the import so often in the middle by SIGKILL, then calls it
again; no event may be lost or stored twice. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess, running_daemon

EPOCH = datetime(2026, 9, 1, 8, tzinfo=UTC)
PROMPT_SECONDS = 0.25
PROJECTS = 8
PARTS = ("basket", "checkout", "parser", "retry", "schema", "index", "budget", "socket", "migration", "buffer", "token")
VERBS = ("fails", "is slow", "loses an entry", "is called twice", "waits for ever", "shows the wrong sum")
REASONS = (
    "it is simpler to undo",
    "the tests stay fast",
    "two machines share it",
    "the old one leaked",
    "it is measured",
)


class Transcripts:
    """A user's folder with sessions of Claude Code."""

    def __init__(self, user: Path, *, total_bytes: int, session_bytes: int) -> None:
        self._dice = random.Random(30)
        self.events = self.size_bytes = self.sessions = self.prompts = 0
        while self.size_bytes < total_bytes:
            folder = f"/src/project-{self.sessions % PROJECTS}"
            path = user / ".claude" / "projects" / folder.replace("/", "-") / f"{self._uuid()}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8") as file:
                for line in self._lines(path.stem, folder, session_bytes):
                    file.write(line)
            ended = (EPOCH + timedelta(hours=3 * self.sessions)).timestamp()
            os.utime(path, (ended, ended))
            self.sessions += 1
            self.size_bytes += path.stat().st_size

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._dice.getrandbits(128), version=4))

    def _lines(self, session: str, folder: str, most_bytes: int) -> Iterator[str]:
        parent, written, now = None, 0, EPOCH + timedelta(hours=3 * self.sessions)
        while written < most_bytes:
            for fields in self._turn():
                now += timedelta(seconds=self._dice.uniform(1, 20))
                own = self._uuid()
                line = {
                    "parentUuid": parent, "isSidechain": False, "cwd": folder, "sessionId": session,
                    "gitBranch": "main", **fields, "uuid": own, "timestamp": now.isoformat().replace("+00:00", "Z"),
                }  # fmt: skip  # as Claude Code orders it
                parent = own
                text = json.dumps(line) + "\n"
                written += len(text)
                yield text

    def _turn(self) -> Iterator[dict[str, Any]]:
        dice = self._dice
        part, other = dice.sample(PARTS, 2)
        self.prompts += 1
        self.events += 2
        yield _user(f"The {part} {dice.choice(VERBS)} in step {dice.randrange(9999)}; look at the {other} too.")
        for _ in range(dice.randrange(2, 9)):
            self.events += 1
            call = f"toolu_{dice.getrandbits(120):030x}"
            command = f"pytest -q tests/{part}_{dice.randrange(500)}.py"
            yield _assistant({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}})
            lines = [f"tests/{other}.py::test_{dice.randrange(9999)} PASSED" for _ in range(dice.randrange(5, 120))]
            output, fails = "\n".join(lines), dice.random() < 0.2
            shown = f"Exit code 1\n{output}\n1 failed" if fails else output
            block = {"type": "tool_result", "tool_use_id": call, "content": shown, "is_error": fails}
            yield _user([block]) | {"toolUseResult": shown if fails else {"stdout": output, "stderr": ""}}
        decided = f"We decided to keep the {part} in the {other}, because {dice.choice(REASONS)}."
        yield _assistant({"type": "text", "text": f"{decided} It is done in src/{part}.py."})


def _user(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


def _assistant(block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "content": [block]}
    return {"type": "assistant", "message": message | {"stop_reason": None}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=40.0)
    parser.add_argument("--session-megabytes", type=float, default=2.0)
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        user, home = Path(folder) / "user", Path(folder) / "home"
        home.mkdir()
        written = Transcripts(
            user,
            total_bytes=round(options.megabytes * 1e6),
            session_bytes=round(options.session_megabytes * 1e6),
        )
        with running_daemon(home) as daemon:
            print(json.dumps(_measured(daemon, home, user, written, kills=options.kills), indent=2))


def _measured(daemon: DaemonProcess, home: Path, user: Path, written: Transcripts, *, kills: int) -> dict[str, Any]:
    alone = [_prompt_ms(daemon, number) for number in range(20)]
    watch = _Watch(daemon)
    surveyed = _timed(home, user, watch, "--dry-run")
    for number in range(kills):
        _run(home, user, watch, "--yes", ends_after=surveyed * (1 + 0.3 * (number + 1)))
    began = time.perf_counter()
    answer = _run(home, user, watch, "--yes")
    seconds = time.perf_counter() - began
    watch.is_beside = False
    again = _run(home, user, watch, "--yes")
    stored = daemon.call("GET", "/v1/events?limit=1")["total"] - len(alone) - len(watch.prompts)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores",
        "megabytes": round(written.size_bytes / 1e6, 1),
        "sessions": written.sessions,
        "events_written": written.events,
        "events_in_store": stored,
        "answer": answer,
        "again": again,
        "survey_seconds": round(surveyed, 2),
        "import_seconds": round(seconds, 2),
        "events_per_second": round(answer.get("stored", 0) / max(answer.get("seconds", 0), 0.001)),
        "importer_rss_mb": round(watch.importer_rss / 1e6),
        "daemon_rss_mb": round(watch.daemon_rss / 1e6),
        "prompt_alone_ms_median": round(statistics.median(alone), 1),
        "prompt_beside_ms_median": round(statistics.median(watch.prompts), 1),
        "prompt_beside_ms_worst": round(max(watch.prompts), 1),
        "kills": kills,
    }


class _Watch:
    """What is measured while a command runs."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.daemon = daemon
        self.process = psutil.Process(daemon.process.pid)
        self.importer_rss = self.daemon_rss = 0
        self.prompts: list[float] = []
        self.is_beside = True

    def look(self, importer: psutil.Process) -> None:
        self.daemon_rss = max(self.daemon_rss, self.process.memory_info().rss)
        try:
            self.importer_rss = max(self.importer_rss, importer.memory_info().rss)
        except psutil.NoSuchProcess:
            return
        if self.is_beside:
            self.prompts.append(_prompt_ms(self.daemon, 100 + len(self.prompts)))


def _timed(home: Path, user: Path, watch: _Watch, *options: str) -> float:
    began = time.perf_counter()
    _run(home, user, watch, *options)
    return time.perf_counter() - began


def _run(home: Path, user: Path, watch: _Watch, *options: str, ends_after: float = 3600.0) -> dict[str, Any]:
    """What ``import`` printed; nothing if it was killed."""
    command = [sys.executable, "-m", "kiro_learn", "import", "--json", *options]
    environment = {**os.environ, "HOME": str(user), "KIRO_LEARN_HOME": str(home)}
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        process = psutil.Process(running.pid)
        while running.poll() is None:
            watch.look(process)
            if time.perf_counter() - began > ends_after:
                running.kill()
            time.sleep(PROMPT_SECONDS)
        printed = running.stdout.read() if running.stdout else ""
    return json.loads(printed) if running.returncode == 0 and printed else {}


def _prompt_ms(daemon: DaemonProcess, number: int) -> float:
    """The time of a prompt's answer, with what is remembered."""
    event = {
        "event_id": f"01K{number:023d}", "session_id": "beside", "actor_id": "bench", "schema_version": 1,
        "namespace": f"/actor/bench/project/{'b' * 64}/", "kind": "prompt", "valid_time": "2026-11-01T00:00:00Z",
        "body": {"type": "text", "content": f"why does the {PARTS[number % len(PARTS)]} wait for ever?"},
        "source": {"surface": "bench", "version": "1", "client_id": "bench"},
    }  # fmt: skip  # as short as it gets
    began = time.perf_counter()
    daemon.call("POST", "/v1/events?retrieve=true", event)
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
