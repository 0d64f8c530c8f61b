"""How long does a prompt wait, in a project of that many memories?

    python benchmarks/prompt.py [--records 1000,10000,50000] [--namespaces 1] [--homes FOLDER] [--text FOLDER]

Fills a home for each number of records (``many_records.py``; kept below ``--homes``, so that a second run begins at
once), starts a real daemon on it and asks over a kept connection, as the hook does, with the real embedding model:

- ``first_after_start``: a prompt as soon as the daemon answers its port; ``first_by_meaning``: the first prompt that is
  not answered by words only;
- ``warming_up``: the next prompts, while the daemon still reads ahead;
- ``prompt``: prompts after that, one by one, each of other words; ``again``: the same prompts once more;
- ``session_start``: the brief of a new session, and its bytes; ``start_with_profile``: the same in a project in this
  checkout, whose manifests are read;
- ``after_write``: prompts right after a memory was put; ``before_write``: the same prompts between the writes.

``cpu_ms`` is the daemon's processor time for each, which other work on the machine hardly changes.

Baselines in the same run: GET /healthz, and a prompt to a project without memories, which is stored and embedded. Texts
are the Python sources below ``--text``, by default the standard library and the packages that are installed with it.
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
"""The daemon is idle if it uses less than this share of one processor."""
CHECKOUT = Path(__file__).parents[1]
WORDS_A_PROMPT = 12
ACTOR = "bench"
"""The actor of the memories in the homes (``many_records.py``)."""
NOBODY = namespace_of(ACTOR, "f" * 64)

Times = list[float]
_numbers = itertools.count(time.time_ns())


class Asker:
    """One agent's connection."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self._connection: http.client.HTTPConnection = daemon.connect()
        self._token = daemon.token
        self.degraded: Counter[str] = Counter()
        """The count of answers that lacked something, by the name of the missing part."""

    def ask(self, words: str, where: Namespace) -> float:
        """Milliseconds until the answer arrived."""
        began = time.perf_counter()
        status, answer = call(
            self._connection, self._token, "POST", "/v1/events?retrieve=true", prompt_event(words, where)
        )
        taken = (time.perf_counter() - began) * 1000
        assert status == 200, answer
        self.degraded.update(answer["retrieval"]["degraded"])
        return taken

    def begin_session(self, where: Namespace, folder: Path | None = None) -> tuple[float, int]:
        """The milliseconds until a new session had its brief, and the brief's bytes."""
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
    """All figures of one home. ``early`` is asked first. If there are several namespaces, two are measured in turn."""
    mine = namespace(0)
    # The memories' actor is not the daemon's: if it were not trusted, briefs would leave them out.
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
    """Wait until the process has done next to nothing for a second."""
    before = -1.0
    while (now := _cpu_seconds(process)) - before > IDLE_SHARE:
        before = now
        time.sleep(1)


def _until(ask: Callable[[], float], asker: Asker) -> float:
    """Ask until an answer is not degraded; returns the milliseconds of that one."""
    while True:
        asker.degraded.clear()
        taken = ask()
        if not asker.degraded:
            return taken


def _around_writes(asker: Asker, asked: list[str], where: Namespace) -> dict[str, Any]:
    """Each prompt before a write and right after it."""
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
            home = Path(scratch) / size.name  # a copy, since a run writes to its home
            shutil.copytree(kept, home)
            os.sync()  # else commits wait until the copy is on the disk
            asked = prompts(texts[: PROMPTS + EARLY_PROMPTS])
            results[f"{size.records}_records"] = measure(
                home, asked[:PROMPTS], asked[PROMPTS:], namespaces=options.namespaces
            )
            shutil.rmtree(home)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
