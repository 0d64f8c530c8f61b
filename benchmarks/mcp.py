"""How long does an agent wait for the first answer of ``kiro-learn mcp``, and for a search through it?

Every round starts the bare interpreter and the server in turn, so that other work on the machine affects both alike.
First answer: from the start of the process to the whole line that answers ``initialize``. Search: a ``search_memory``
through the process on the running daemon, without the first one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
PROGRAM = (sys.executable, "-m", "kiro_learn")
SEARCHES = 20


def line(method: str, number: int, params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def interpreter_ms() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - began) * 1000


def server_ms() -> tuple[float, list[float]]:
    """The milliseconds of the first answer, and of each search."""
    began = time.perf_counter()
    with subprocess.Popen([*PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        sent, answered = process.stdin, process.stdout
        assert sent is not None
        assert answered is not None

        def ask(message: bytes) -> float:
            asked = time.perf_counter()
            sent.write(message)
            sent.flush()
            answer = json.loads(answered.readline())
            assert not answer["result"].get("isError"), answer
            return (time.perf_counter() - asked) * 1000

        ask(line("initialize", 0, HELLO))
        first = (time.perf_counter() - began) * 1000
        call = {"name": "search_memory", "arguments": {"query": "zebras at the zoo"}}
        searches = [ask(line("tools/call", number, call)) for number in range(1, SEARCHES + 1)]
        sent.close()
    return first, searches[1:]


def described(name: str, taken: Sequence[float]) -> str:
    ordered = sorted(taken)
    return f"{name:24} p50 {statistics.median(ordered):6.1f}  p95 {ordered[int(len(ordered) * 0.95)]:6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as place:
        home, folder = Path(place, "home"), Path(place, "project")
        (folder / ".git").mkdir(parents=True)
        os.chdir(folder)
        os.environ |= {
            "KIRO_LEARN_HOME": str(home),
            "KIRO_LEARN_SERVER_PORT": "0",
            "KIRO_LEARN_LLM_BACKEND": "extractive",
        }
        subprocess.run([*PROGRAM, "start"], check=True, stdout=subprocess.DEVNULL)
        try:
            taken = [(interpreter_ms(), server_ms()) for _ in range(rounds)]
        finally:
            subprocess.run([*PROGRAM, "stop"], check=True, stdout=subprocess.DEVNULL)
            os.chdir("/")
    print(f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {rounds} starts")
    print(described("bare interpreter", [bare for bare, _ in taken]))
    print(described("first answer", [first for _, (first, _) in taken]))
    print(described("search_memory", [each for _, (_, searches) in taken for each in searches]))


if __name__ == "__main__":
    main()
