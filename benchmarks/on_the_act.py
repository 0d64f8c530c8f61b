"""What does a hook before a tool cost, if no rule is about the call, and if one is?

    python benchmarks/on_the_act.py [--rules 2000] [--calls 300]

In process, one thread, on the SQLite adapter in memory: wall milliseconds of the whole answer to a hook's request, from
its bytes to the text, median and p95. ``first``: the one call that reads the project's rules.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.model.observation import KnowledgeItem
from kiro_learn.model.record import KnowledgeType
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import simulated_daemon

FOLDER = "/home/ada/shop"
TOPICS = ("prices", "orders", "carts", "stocks", "users", "mails")
CALLS = ("git status", "ls -la src", "pytest -q tests/unit/test_cart.py", "cat README.md | head", "npm run build")


async def _fill(services: Services, count: int) -> None:
    for number in range(count):
        title = f"Never edit src/{TOPICS[number % len(TOPICS)]}/part_{number}.py without asking for review {number}"
        item = KnowledgeItem(project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title=title, content=title)
        await services.observe.add_knowledge(item)


async def _ask(services: Services, tool: str, given: dict[str, str], session: str) -> tuple[float, int]:
    payload = {"hook_event_name": "PreToolUse", "cwd": FOLDER, "session_id": session}
    request = json.dumps({**payload, "tool_name": tool, "tool_input": given}).encode()
    began = time.perf_counter()
    answered = await services.hooks.take("claude-code", request, {}, retrieve=True)
    return (time.perf_counter() - began) * 1000, len(answered.context.encode())


async def _measure(rules: int, calls: int) -> None:
    async with simulated_daemon() as services:
        await _fill(services, rules)
        first, _ = await _ask(services, "Bash", {"command": "ls"}, "s")
        silent = [await _ask(services, "Bash", {"command": CALLS[each % len(CALLS)]}, "s") for each in range(calls)]
        edits = [{"file_path": f"{FOLDER}/src/{TOPICS[each % len(TOPICS)]}/part_{each}.py"} for each in range(rules)]
        told = [await _ask(services, "Edit", edits[each % rules], f"s{each}") for each in range(calls)]
    print(f"{rules} rules; first {first:.1f} ms")
    for name, answers in (("no rule", silent), ("a rule", told)):
        times = sorted(each for each, _ in answers)
        p95 = times[int(0.95 * (len(times) - 1))]
        print(
            f"{name}: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms, {max(size for _, size in answers)} bytes"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=int, default=2_000)
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    trio.run(_measure, arguments.rules, arguments.calls)


if __name__ == "__main__":
    main()
