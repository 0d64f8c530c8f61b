"""How long does a prompt wait, in a project of that many memories?

    python benchmarks/prompt.py [--records 1000,10000,50000] [--namespaces 1] [--homes FOLDER] [--text FOLDER]

Fills a home for each number of records (``many_records.py``; kept below ``--homes``, so that a second run begins at
once), starts a real daemon on it and asks over a kept connection, as the hook does, with the real embedding model:

- ``first_after_start``: as soon as the daemon answers its port, and ``first_by_meaning``: the first that is not
  answered by words alone;
- ``warming_up``: the next prompts, while the daemon still reads what it expects to be asked for;
- ``prompt``: once it has, one by one, each of other words; ``again``: the same prompts once more;
- ``session_start``: the brief of a session that begins, each a new one, and its bytes; ``start_with_profile``: the same
  in a project that lies in this checkout, whose manifests are read;
- ``after_write``: at once after a memory was put, and ``before_write``, of the same prompts, between the writes.

``cpu_ms`` is the daemon's processor time for each, which other work on the machine does not change much.

Baselines in the same run: GET /healthz, and a prompt to a project without memories, which is taken in and embedded.
Texts are the Python sources below ``--text``, by default the standard library and what is installed with it.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import SEED, Size, about_this_run, build_home, namespace, passages
from kiro_learn.model.namespace import Namespace, namespace_of
from tests.integration.daemon_process import DaemonProcess, call, running_daemon

PROMPTS = 300
EARLY_PROMPTS = 100
WRITES = 40
IDLE_SHARE = 0.05
"""Of one processor."""
CHECKOUT = Path(__file__).parents[1]
WORDS_A_PROMPT = 12
ACTOR = "bench"
"""Whose memories the homes hold (``many_records.py``)."""
NOBODY = namespace_of(ACTOR, "f" * 64)

Times = list[float]
_numbers = itertools.count(time.time_ns())


class Asker:
    """One agent's connection."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self._connection: http.client.HTTPConnection = daemon.connect()
        self._token = daemon.token
        self.degraded: Counter[str] = Counter()
        """How many answers lacked something, by what it was."""

    def ask(self, words: str, where: Namespace) -> float:
        """Milliseconds until the answer was there."""
        began = time.perf_counter()
        status, answer = call(
            self._connection, self._token, "POST", "/v1/events?retrieve=true", prompt_event(words, where)
        )
        taken = (time.perf_counter() - began) * 1000
        assert status == 200, answer
        self.degraded.update(answer["retrieval"]["degraded"])
        return taken

    def begin_session(self, where: Namespace, folder: Path | None = None) -> tuple[float, int]:
        """Milliseconds until a new session had its brief, and the brief's bytes."""
        began = time.perf_counter()
        start = prompt_event("The session starts.", where) | {"kind": "note"}
        if folder is not None:
            start["source"]["project_path"] = str(folder)
        status, answer = call(self._connection, self._token, "POST", "/v1/events?retrieve=true", start)
        taken = (time.perf_counter() - began) * 1000
        assert status == 200, answer
        return taken, len(answer["retrieval"]["context"].encode())

    def put(self, text: str, where: Namespace) -> None:
        status, answer = call(self._connection, self._token, "POST", "/v1/memories", _memory(text, where))
        assert status < 300, answer

    def healthz(self) -> float:
        began = time.perf_counter()
        assert call(self._connection, self._token, "GET", "/healthz")[0] == 200
        return (time.perf_counter() - began) * 1000


def prompt_event(words: str, where: Namespace) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "event_id": f"1{number:025d}",
        "session_id": f"bench-{number}",
        "actor_id": "bench",
        "namespace": where,
        "schema_version": 1,
        "kind": "prompt",
        "body": {"type": "text", "content": words},
        "valid_time": "2026-01-05T12:00:00Z",
        "source": {"surface": "kiro-cli", "version": "1", "client_id": "bench"},
    }


def _memory(text: str, where: Namespace) -> dict[str, Any]:
    number = f"2{next(_numbers):025d}"
    return {
        "record_id": f"mr_{number}",
        "namespace": where,
        "strategy": "bench",
        "title": text[:80],
        "summary": text[80:200] or "-",
        "observation_type": "discovery",
        "source_event_ids": [number],
        "created_at": "2026-01-05T12:00:00Z",
    }


def prompts(texts: Iterable[str]) -> list[str]:
    """A few words of each text."""
    found = []
    for number, text in enumerate(texts):
        words = re.findall(r"\w+", text)
        found.append(" ".join(random.Random(SEED + number).sample(words, min(WORDS_A_PROMPT, len(words)))))
    return found


def spread(times: Times) -> dict[str, float]:
    ordered = sorted(times)
    return {
        f"ms_p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 1) for share in (50, 95, 99)
    }


def measure(home: Path, asked: list[str], early: list[str], *, namespaces: int) -> dict[str, Any]:
    """Every figure of one home, ``early`` asked first. With several namespaces, one of them and then another."""
    mine = namespace(0)
    # The memories are of another actor than this daemon's, so that briefs would leave them out.
    with running_daemon(home, {"KIRO_LEARN_RECALL_TRUSTED": ACTOR}) as daemon:
        asker = Asker(daemon)
        found: dict[str, Any] = {"first_after_start_ms": round(asker.ask(early[0], mine), 1)}
        found["first_by_meaning_ms"] = round(_until(lambda: asker.ask(early[1], mine), asker), 1)
        asker.degraded.clear()
        found["warming_up"] = {**spread([asker.ask(words, mine) for words in early]), "degraded": {**asker.degraded}}
        process = psutil.Process(daemon.process.pid)
        _wait_idle(process)
        found["baseline_healthz"] = spread([asker.healthz() for _ in asked])
        found["baseline_nothing_known"] = spread([asker.ask(words, NOBODY) for words in asked])
        asker.degraded.clear()
        for name in ("prompt", "again"):
            began = _cpu_seconds(process)
            times = [asker.ask(words, mine) for words in asked]
            found[name] = {**spread(times), "cpu_ms": round((_cpu_seconds(process) - began) / len(asked) * 1000, 1)}
        for name, folder in (("session_start", None), ("start_with_profile", CHECKOUT)):
            starts = [asker.begin_session(mine, folder) for _ in asked]
            found[name] = {**spread([taken for taken, _ in starts]), "bytes": max(size for _, size in starts)}
        found |= _around_writes(asker, asked[:WRITES], mine)
        if namespaces > 1:
            found["another_project"] = spread([asker.ask(words, namespace(1)) for words in asked])
        found["degraded"] = {**asker.degraded}
        found["rss_mb"] = round(process.memory_info().rss / 1e6)
        daemon.stop()
    return found


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _wait_idle(process: psutil.Process) -> None:
    """Until it has done next to nothing for a second."""
    before = -1.0
    while (now := _cpu_seconds(process)) - before > IDLE_SHARE:
        before = now
        time.sleep(1)


def _until(ask: Callable[[], float], asker: Asker) -> float:
    """Ask until the answer is not degraded; what that one took."""
    while True:
        asker.degraded.clear()
        taken = ask()
        if not asker.degraded:
            return taken


def _around_writes(asker: Asker, asked: list[str], where: Namespace) -> dict[str, Any]:
    """Each prompt right after a write, and again once nothing has changed."""
    after, before = [], []
    for words in asked:
        before.append(asker.ask(words, where))
        asker.put(words, where)
        after.append(asker.ask(words, where))
        time.sleep(0.3)  # until the new memory has its vector
    ratio = spread(after)["ms_p50"] / spread(before)["ms_p50"]
    return {"before_write": spread(before), "after_write": spread(after), "after_to_before_p50": round(ratio, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="1000,10000")
    parser.add_argument("--namespaces", type=int, default=1)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    sizes = [Size(int(records), options.namespaces) for records in options.records.split(",")]
    texts = passages(options.text, max(size.records for size in sizes))
    results: dict[str, Any] = {
        **about_this_run(),
        "namespaces": options.namespaces,
    }
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            kept = (options.homes or Path(scratch) / "homes") / size.name
            build_home(kept, size, texts)
            home = Path(scratch) / size.name  # a run writes, and the next is to find what this one found
            shutil.copytree(kept, home)
            os.sync()  # else commits wait for what the copy left to be written
            asked = prompts(texts[: PROMPTS + EARLY_PROMPTS])
            results[f"{size.records}_records"] = measure(
                home, asked[:PROMPTS], asked[PROMPTS:], namespaces=options.namespaces
            )
            shutil.rmtree(home)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
