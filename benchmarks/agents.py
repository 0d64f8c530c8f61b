"""Do eight agents that ask at once get their answers, while events stream in and memories are learned?

    python benchmarks/agents.py [--records 10000] [--agents 8] [--seconds 30] [--events 200] [--homes FOLDER]

A real daemon runs on a filled home (``many_records.py``), with the real embedding model and the built-in learner. Each
agent is a process that asks, reads and asks again after a pause of 0.2 to 1 s; all agents share one project. Four more
processes send turns of other projects, of a prompt, seven tools and an answer each, ``--events`` a second. The daemon
learns from them meanwhile, after every 16 kB. The baseline in the same run is one agent alone, with nothing else going
on. Then ``in_step``: all agents ask at the same moment, BURSTS times, with nothing else going on. It gives how long the
first, the middle and the last of them waited (medians), and the longest wait. Then ``back_to_back``: all agents ask
again as soon as they are answered, for BACK_TO_BACK_SECONDS. An answer is ``late`` if ``degraded`` names a part that
was not ready in time, and ``empty_for_lack`` if it also has no context.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import multiprocessing
import random
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import attrs
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.learning import documents, turn
from benchmarks.many_records import SEED, Size, about_this_run, build_home, namespace, passages
from benchmarks.prompt import prompt_event, prompts, spread
from tests.integration.daemon_process import DaemonProcess, call, running_daemon

PAUSE_SECONDS = (0.2, 1.0)
BASELINE_PROMPTS = 60
BURSTS = 25
FIRST_BURSTS = 2
"""Bursts that are not counted, since the agents open their connections in them."""
BURST_PAUSE_SECONDS = 0.4
BACK_TO_BACK_SECONDS = 10.0
STREAMERS = 4
"""The processes that send events, each for one project."""
PROJECTS = "cdef"
TOOLS_A_TURN = 7
"""Uses of tools in a turn. Real sessions have eight to ten events a turn."""
SETTINGS = {"KIRO_LEARN_LEARNING_EXTRACTION_BYTES": "16384"}


@attrs.frozen
class Answer:
    """The answer to one prompt."""

    taken_ms: float
    degraded: bool
    empty: bool


def connect(address: str) -> http.client.HTTPConnection:
    host, port = address.rsplit(":", 1)
    return http.client.HTTPConnection(host, int(port), timeout=60)


def agent(
    number: int,
    address: str,
    token: str,
    asked: list[str],
    seconds: float,
    *,
    pause_seconds: tuple[float, float] = PAUSE_SECONDS,
) -> list[Answer]:
    """Ask until the time is up."""
    dice = random.Random(SEED + number)
    connection = connect(address)
    answers = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        event = prompt_event(dice.choice(asked), namespace(0))
        began = time.perf_counter()
        status, answer = call(connection, token, "POST", "/v1/events?retrieve=true", event)
        taken_ms = (time.perf_counter() - began) * 1000
        assert status == 200, answer
        told = answer["retrieval"]
        answers.append(Answer(taken_ms, bool(told["degraded"]), not told["context"]))
        time.sleep(dice.uniform(*pause_seconds))
    return answers


def in_step(
    number: int, shared: tuple[str, str], asked: list[str], everybody: Barrier, waits: SimpleQueue[Any]
) -> None:
    """Ask whenever all other agents do; put the time of each answer into a queue."""
    dice = random.Random(SEED + number)
    connection = connect(shared[0])
    taken_ms = []
    for _ in range(BURSTS):
        event = prompt_event(dice.choice(asked), namespace(0))
        everybody.wait()
        began = time.perf_counter()
        assert call(connection, shared[1], "POST", "/v1/events?retrieve=true", event)[0] == 200
        taken_ms.append((time.perf_counter() - began) * 1000)
        time.sleep(BURST_PAUSE_SECONDS)
    waits.put(taken_ms)


def bursts(shared: tuple[str, str], asked: list[str], count: int) -> dict[str, float]:
    spawning = multiprocessing.get_context("spawn")
    everybody, waits = spawning.Barrier(count), spawning.SimpleQueue()
    agents = [
        spawning.Process(target=in_step, args=(number, shared, asked, everybody, waits)) for number in range(count)
    ]
    for each in agents:
        each.start()
    rounds = list(zip(*(waits.get() for _ in agents), strict=True))[FIRST_BURSTS:]
    for each in agents:
        each.join()
    places = {"first": 0, "middle": count // 2, "last": count - 1}
    found = {
        f"{name}_ms": statistics.median(sorted(times)[place] for times in rounds) for name, place in places.items()
    }
    return {name: round(ms, 1) for name, ms in {**found, "longest_ms": max(map(max, rounds))}.items()}


def back_to_back(shared: tuple[str, str], asked: list[str], count: int) -> dict[str, Any]:
    """How long agents without pauses wait for their answers."""
    spawning = multiprocessing.get_context("spawn")
    everybody = spawning.Barrier(count)
    with spawning.Pool(count, get_ready, (everybody,)) as pool:
        agents = [
            pool.apply_async(agent, (number, *shared, asked, BACK_TO_BACK_SECONDS), {"pause_seconds": (0.0, 0.0)})
            for number in range(count)
        ]
        return told([answer for each in agents for answer in each.get()])


def stream(number: int, address: str, token: str, *, per_second: float, seconds: float) -> int:
    """Send the turns of one project's sessions at a steady pace; returns how many events were acknowledged."""
    connection = connect(address)
    events = turns(number)
    began = time.perf_counter()
    sent = 0
    while (elapsed := time.perf_counter() - began) < seconds:
        if sent >= elapsed * per_second:
            time.sleep(0.002)
            continue
        status, answer = call(connection, token, "POST", "/v1/events", next(events))
        assert status == 200, answer
        sent += 1
    return sent


def turns(number: int) -> Iterator[dict[str, Any]]:
    """Turn after turn of one project: a prompt, TOOLS_A_TURN tools and a final answer each."""
    texts = documents()
    for turn_number in itertools.count(number * len(texts) // STREAMERS):
        text = texts[turn_number % len(texts)]
        prompt, tool, answer = turn(turn_number, text, PROJECTS[number] * 64)
        tool["body"]["data"]["tool_response"] = text
        tools = [tool | {"event_id": f"{place}{tool['event_id'][1:]}"} for place in range(1, 1 + TOOLS_A_TURN)]
        yield from (prompt, *tools, answer)


def measure(daemon: DaemonProcess, asked: list[str], options: argparse.Namespace) -> dict[str, Any]:
    shared = ((daemon.home / "daemon.address").read_text().strip(), daemon.token)
    while agent(0, *shared, asked, 0.1)[0].degraded:
        time.sleep(0.2)
    alone = agent(0, *shared, asked, BASELINE_PROMPTS * sum(PAUSE_SECONDS) / 2)
    together_in_step = bursts(shared, asked, options.agents)
    without_pauses = back_to_back(shared, asked, options.agents)
    known = daemon.call("GET", "/v1/stats")["total_memories"]
    spawning = multiprocessing.get_context("spawn")
    everybody = spawning.Barrier(options.agents + STREAMERS)
    with spawning.Pool(everybody.parties, get_ready, (everybody,)) as pool:
        pace = {"per_second": options.events / STREAMERS, "seconds": options.seconds}
        streaming = [pool.apply_async(stream, (number, *shared), pace) for number in range(STREAMERS)]
        agents = [
            pool.apply_async(agent, (number, *shared, asked, options.seconds)) for number in range(options.agents)
        ]
        together = [answer for each in agents for answer in each.get()]
        sent = sum(each.get() for each in streaming)
    learned = daemon.call("GET", "/v1/stats")["total_memories"] - known
    return {
        "baseline_alone": told(alone),
        "in_step": together_in_step,
        "back_to_back": without_pauses,
        "together": told(together),
        "events_per_second": round(sent / options.seconds),
        "memories_learned_meanwhile": learned,
    }


def get_ready(everybody: Barrier) -> None:
    """Wait until all processes have imported and read: that takes both cores, and would count as the daemon's time."""
    documents()
    everybody.wait()


def told(answers: list[Answer]) -> dict[str, Any]:
    return {
        "prompts": len(answers),
        **spread([answer.taken_ms for answer in answers]),
        "late": sum(answer.degraded for answer in answers),
        "empty_for_lack": sum(answer.degraded and answer.empty for answer in answers),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    texts = passages(options.text, max(options.records, 2_000))
    with tempfile.TemporaryDirectory() as scratch:
        kept = (options.homes or Path(scratch) / "homes") / Size(options.records).name
        build_home(kept, Size(options.records), texts)
        home = Path(shutil.copytree(kept, Path(scratch) / "home"))
        with running_daemon(home, SETTINGS) as daemon:
            results = measure(daemon, prompts(texts[:400]), options)
            results["rss_mb"] = round(psutil.Process(daemon.process.pid).memory_info().rss / 1e6)
            daemon.stop()
    about = {
        **about_this_run(),
        "records": options.records,
        "agents": options.agents,
    }
    print(json.dumps({**about, **results}, indent=2))


if __name__ == "__main__":
    main()
