"""Is a young store silent when a first prompt needs nothing? Two scripted histories of four days, by two authors.

    python benchmarks/young_stores.py [--vectors FILE] [--show]

In one process, without a model: learns the days of ``data/days/NAME.txt``, then asks each prompt of ``NAME.jsonl`` as
the first one of its own session. The authors marked each prompt, before they saw an answer or after: does it need
something of these days? One line a history: how many of the prompts that need nothing, and of those that need
something, were told something. ``--show`` prints each prompt with its confidence and its bytes.

A line of the days is ``P: prompt``, ``A: answer``, ``E: edited path`` or ``B: command => output``; an empty line begins
the next session.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
import trio
from ulid import ULID

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import (
    PATIENCE_SECONDS,
    History,
    KeptModel,
    event_ids,
    read_event,
    running_services,
    wait_embedded,
    wait_ready,
)
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId

DATA = Path(__file__).parent / "data" / "days"
FOLDER = "/home/ada/shop"
BEGAN, ASKED = datetime(2026, 11, 1, 9, tzinfo=UTC), datetime(2026, 11, 20, 9, tzinfo=UTC)
BETWEEN_EVENTS, BETWEEN_SESSIONS = timedelta(minutes=1), timedelta(hours=5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    print(json.dumps(about_this_run()))
    model = KeptModel(options.vectors)
    for days in sorted(DATA.glob("*.txt")):
        print(json.dumps(trio.run(measure, days, model, options.show)))
    model.keep()


async def measure(days: Path, model: KeptModel, show: bool) -> dict[str, Any]:
    """Learn ``days``, ask the prompts beside them, and count those that are told something."""
    history = History(name=days.stem, events=list(events_in(days)), questions=[], negatives=[])
    asked = [json.loads(line) for line in days.with_suffix(".jsonl").read_text("utf-8").splitlines()]
    told = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as folder:
        async with running_services(Path(folder), model, RecallConfig(budget_seconds=PATIENCE_SECONDS)) as services:
            await wait_ready(services, history)
            for line, event_id in zip(history.events, event_ids(history), strict=False):
                await services.capture.take(read_event(line, event_id, history))
            await services.learn.flush(history.project)
            await wait_embedded(services)
            for number, case in enumerate(asked):
                found = await services.recall.answer(
                    history.namespace,
                    TextBody(case["prompt"]),
                    session_id=f"asked {number}",
                    event_id=EventId(str(ULID())),
                    said_at=ASKED,
                )
                told[case["needs"]] += bool(found.context)
                if show:
                    need = "needs something" if case["needs"] else "needs nothing"
                    print(f"  {need}, told {len(found.context.encode())} bytes: {case['prompt']}", file=sys.stderr)
    needing = sum(case["needs"] for case in asked)
    return {
        "days": days.stem,
        "need nothing": len(asked) - needing,
        "told": told[False],
        "need something": needing,
        "told something": told[True],
    }


def events_in(days: Path) -> Iterator[dict[str, Any]]:
    """The events of ``days`` as Kiro's hooks report them."""
    at, session = BEGAN, 0
    for line in days.read_text("utf-8").splitlines():
        kind, _, text = line.partition(": ")
        text = text.replace("\\n", "\n")
        if not line.strip():
            at, session = at + BETWEEN_SESSIONS, session + 1
            continue
        at += BETWEEN_EVENTS
        shared = {"session_id": f"session {session}", "ts": f"{at:%Y-%m-%dT%H:%M:%S.000Z}", "cwd": FOLDER}
        command, _, output = text.partition(" => ")
        match kind:
            case "P":
                yield shared | {"hook_event_name": "userPromptSubmit", "prompt": text}
            case "A":
                yield shared | {"hook_event_name": "stop", "assistant_response": text}
            case "E":
                given = {"file_path": f"{FOLDER}/{text}", "old_string": "a", "new_string": "b"}
                yield shared | used("Edit", given, success=True)
            case "B":
                yield shared | used(
                    "Bash", {"command": command}, success=not output.startswith("Error"), result=[output]
                )
            case _:
                raise SystemExit(f"{days}: a line begins with P:, A:, E: or B:, not {line[:40]!r}")


def used(tool: str, given: dict[str, str], **response: Any) -> dict[str, Any]:
    """A hook's report of a tool that ran."""
    return {"hook_event_name": "postToolUse", "tool_name": tool, "tool_input": given, "tool_response": response}


if __name__ == "__main__":
    main()
