"""How fast are past sessions imported, in how much memory, and how long does a prompt wait meanwhile?

    python benchmarks/importing.py [--megabytes 40] [--session-megabytes 2] [--kills 0] [--learned]

Writes synthetic transcripts in the form of Claude Code, imports them by the real command into a real daemon, and asks a
prompt four times a second meanwhile. ``--kills``: so often, at even distances, SIGKILL ends the importer or the daemon
in turn; then the daemon is started and the import called again. No event may be lost or stored twice. ``--learned``
also waits until all is learned. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import apsw
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess, running_daemon

EPOCH = datetime(2026, 9, 1, 8, tzinfo=UTC)
PROMPT_SECONDS = 0.25
PROJECTS = 8
BESIDE = "beside"
"""The session of the prompts that are asked during the import."""
PARTS = ("basket", "checkout", "parser", "retry", "schema", "index", "budget", "socket", "migration", "buffer", "token")
VERBS = ("fails", "is slow", "loses an entry", "is called twice", "waits for ever", "shows the wrong sum")
REASONS = (
    "it is simpler to undo",
    "the tests stay fast",
    "two machines share it",
    "the old one leaked",
    "it is measured",
)


class Told(NamedTuple):
    """A turn that a later question is about."""

    prompt: str
    answer: str


class Transcripts:
    """A user's folder with sessions of Claude Code, one for each of ``sizes``, in bytes.

    ``told``: the turns in the middle of sessions, by the session's number.
    """

    def __init__(
        self,
        user: Path,
        sizes: Iterable[int],
        *,
        began: datetime = EPOCH,
        hours_apart: float = 3.0,
        root: str = "/src",
        told: Mapping[int, Told] | None = None,
    ) -> None:
        self._dice = random.Random(30)
        self.events = self.size_bytes = self.sessions = self.prompts = 0
        for number, most_bytes in enumerate(sizes):
            folder, at = f"{root}/project-{number % PROJECTS}", began + timedelta(hours=hours_apart * number)
            path = user / ".claude" / "projects" / folder.replace("/", "-") / f"{self._uuid()}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8") as file:
                for line in self._lines(path.stem, folder, at, most_bytes, (told or {}).get(number)):
                    file.write(line)
            os.utime(path, (at.timestamp(), at.timestamp()))
            self.sessions += 1
            self.size_bytes += path.stat().st_size

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._dice.getrandbits(128), version=4))

    def _lines(self, session: str, folder: str, now: datetime, most_bytes: int, told: Told | None) -> Iterator[str]:
        parent, written = None, 0
        while written < most_bytes:
            said, told = (told, None) if written >= most_bytes / 2 else (None, told)
            for fields in self._turn() if said is None else self._telling(said):
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

    def _telling(self, told: Told) -> Iterator[dict[str, Any]]:
        self.prompts += 1
        self.events += 2
        yield _user(told.prompt)
        yield _assistant({"type": "text", "text": told.answer})

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
    parser.add_argument("--learned", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        user, home = Path(folder) / "user", Path(folder) / "home"
        home.mkdir()
        sessions = max(1, math.ceil(options.megabytes / options.session_megabytes))
        written = Transcripts(user, [round(options.session_megabytes * 1e6)] * sessions)
        with Rig(home, user) as rig:
            print(json.dumps(_measured(rig, written, kills=options.kills, is_learned=options.learned), indent=2))


def _measured(rig: Rig, written: Transcripts, *, kills: int, is_learned: bool) -> dict[str, Any]:
    for _ in range(20):
        rig.ask(rig.alone)
    load = os.getloadavg()[0]
    surveyed, _ = rig.run("--dry-run")
    rig.is_beside = True
    spent = [
        rig.run("--yes", kill=(written.events * (number + 1) // (kills + 1), number))[0] for number in range(kills)
    ]
    seconds, answer = rig.run("--yes")
    rig.is_beside = False
    total_seconds = sum(spent) + seconds
    again_seconds, again = rig.run("--yes")
    stored = rig.imported
    learned_seconds = rig.learn_all() if is_learned else None
    return {
        "load_before": round(load, 1),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores",
        "megabytes": round(written.size_bytes / 1e6, 1),
        "sessions": written.sessions,
        "events_written": written.events,
        "events_in_store": stored,
        "answer": answer,
        "again": again,
        "again_seconds": round(again_seconds, 2),
        "survey_seconds": round(surveyed, 2),
        "import_seconds": round(total_seconds, 1),
        "events_per_second": round(stored / total_seconds),
        "learned_seconds": learned_seconds,
        "memories": rig.daemon.call("GET", "/v1/memories?limit=1")["total"],
        "importer_rss_mb": round(rig.importer_rss / 1e6),
        "daemon_rss_mb": round(rig.daemon_rss / 1e6),
        "store_mb": round(sum(path.stat().st_size for path in rig.home.glob("*.db*")) / 1e6),
        "prompts": len(rig.beside),
        "prompts_unanswered": rig.unanswered,
        "prompt_alone_ms": _percentiles(rig.alone),
        "prompt_beside_ms": _percentiles(rig.beside),
        "kills": rig.kills,
    }


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {
        "p50": round(cuts[49], 1),
        "p95": round(cuts[94], 1),
        "p99": round(cuts[98], 1),
        "most": round(max(times), 1),
    }


class Rig:
    """A daemon, and the command that imports into it. Both are watched, and can be killed."""

    def __init__(self, home: Path, user: Path) -> None:
        self.home, self.user = home, user
        self.importer_rss = self.daemon_rss = self.unanswered = 0
        self.alone: list[float] = []
        self.beside: list[float] = []
        self.kills: Counter[str] = Counter()
        self.is_beside = False

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        self.daemon: DaemonProcess = self._stack.enter_context(running_daemon(self.home))
        self.namespace: str = self.daemon.call("GET", "/v1/namespace?cwd=/src/project-0")["namespace"]

    @property
    def imported(self) -> int:
        """The count of events in the store, without the prompts that were asked meanwhile."""
        with closing(apsw.Connection(str(self.home / "kiro-learn.db"), flags=apsw.SQLITE_OPEN_READONLY)) as store:
            return int(store.execute("SELECT count(*) FROM events WHERE session_id <> ?", (BESIDE,)).get)

    def run(self, *options: str, kill: tuple[int, int] | None = None) -> tuple[float, dict[str, Any]]:
        """The seconds that ``import`` ran, and its output; empty if it was killed.

        ``kill``: at how many events to kill, and the number of the kill.
        """
        command = [sys.executable, "-m", "kiro_learn", "import", "--json", *options]
        environment = {**os.environ, "HOME": str(self.user), "KIRO_LEARN_HOME": str(self.home)}
        began = time.perf_counter()
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            process = psutil.Process(running.pid)
            while running.poll() is None:
                self._look(process)
                if kill is not None and self.imported >= kill[0]:
                    self._kill(running, kill[1])
                    kill = None
                time.sleep(PROMPT_SECONDS)
            printed = running.stdout.read() if running.stdout else b""
        seconds = time.perf_counter() - began
        return seconds, json.loads(printed) if running.returncode == 0 and printed else {}

    def _look(self, importer: psutil.Process) -> None:
        self.daemon_rss = max(self.daemon_rss, psutil.Process(self.daemon.process.pid).memory_info().rss)
        with suppress(psutil.NoSuchProcess):
            self.importer_rss = max(self.importer_rss, importer.memory_info().rss)
        if self.is_beside:
            self.ask(self.beside)

    def _kill(self, importer: subprocess.Popen[bytes], number: int) -> None:
        if number % 2 == 0:
            self.kills["importer"] += 1
            importer.kill()
            return
        self.kills["daemon"] += 1
        self.daemon.kill()
        importer.wait(timeout=600)
        self._start()

    def learn_all(self) -> float:
        """Wait until all is learned; returns the seconds since all was imported."""
        began = time.perf_counter()
        while self.daemon.call("GET", "/v1/status")["waiting"]["event_count"]:
            self.daemon_rss = max(self.daemon_rss, psutil.Process(self.daemon.process.pid).memory_info().rss)
            time.sleep(PROMPT_SECONDS)
        return round(time.perf_counter() - began, 1)

    def ask(self, times: list[float]) -> None:
        """Ask one prompt with recall, and put its milliseconds into ``times``."""
        number = len(self.alone) + len(self.beside) + self.unanswered
        event = {
            "event_id": f"01K{number:023d}", "session_id": BESIDE, "actor_id": self.namespace.split("/")[2],
            "schema_version": 1, "namespace": self.namespace, "kind": "prompt", "valid_time": "2026-11-01T00:00:00Z",
            "body": {"type": "text", "content": f"why does the {PARTS[number % len(PARTS)]} wait for ever?"},
            "source": {"surface": "bench", "version": "1", "client_id": "bench"},
        }  # fmt: skip  # as short as it gets
        began = time.perf_counter()
        try:
            self.daemon.call("POST", "/v1/events?retrieve=true", event)
        except (AssertionError, OSError):
            self.unanswered += 1
        else:
            times.append(1000 * (time.perf_counter() - began))


if __name__ == "__main__":
    main()
