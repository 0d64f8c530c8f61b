"""How long does a program take to load the SDK?

Every round starts the bare interpreter and one that imports ``kiro_learn.client``, each client in turn, so that other
work on the machine affects all alike. The whole life of the process is measured.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import statistics
import subprocess
import sys
import time

PROGRAMS = {
    "bare interpreter": "pass",
    "import kiro_learn.client": "import kiro_learn.client",
    "KiroLearn": "from kiro_learn.client import KiroLearn",
    "AsyncKiroLearn": "from kiro_learn.client import AsyncKiroLearn",
}


def milliseconds(code: str) -> float:
    """The milliseconds from the start of a process that runs ``code`` to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    print(f"{dt.datetime.now(dt.UTC):%Y-%m-%d} {platform.machine()}, {os.cpu_count()} cores, ", end="")
    print(f"load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {rounds} rounds")
    measured: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(rounds + 1):
        for name, code in PROGRAMS.items():
            measured[name].append(milliseconds(code))
    for name, (_first, *times) in measured.items():  # the first run compiles the modules
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"{name}: p50 {statistics.median(times):.0f} ms, p95 {p95:.0f} ms, least {min(times):.0f} ms")


if __name__ == "__main__":
    main()
