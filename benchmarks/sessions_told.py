"""How much is told and repeated in real sessions in which every prompt asks, and how long does it take?

    python benchmarks/sessions_told.py DATA [--only NAME ...] [--vectors FILE] [--json FILE] [--patient]

DATA holds one folder a history, as benchmarks/histories.py reads it. A daemon's services in this process (SQLite, the
bundled model, the built-in learner) replay a history: each event is captured in order, each prompt asks in its session,
and a session is learned before the next one begins (a running daemon learns it 30 s after the last event). It is
replayed twice: with each prompt in a session of its own, so that nothing counts as told (before), and in the history's
sessions (after). One line a replay:

    prompts    count of the prompts that asked, and of their sessions
    told       share of the prompts that were told something
    session    mean bytes told in a session of the history
    repeated   share of the told memories that the session had been told before
    p50, p95   milliseconds of a prompt, without capturing it

``--patient`` gives each prompt 10 s: then a loaded machine tells the same, but the milliseconds mean nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import (
    PATIENCE_SECONDS,
    History,
    KeptModel,
    event_ids,
    histories_in,
    parser_of,
    read_event,
    running_services,
    wait_ready,
)
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services


@attrs.define
class Replay:
    """The results of the prompts of one history."""

    latencies_ms: list[float] = attrs.Factory(list)
    sizes: list[int] = attrs.Factory(list)
    bytes_of: defaultdict[str, int] = attrs.Factory(lambda: defaultdict(int))
    told_to: defaultdict[str, set[RecordId]] = attrs.Factory(lambda: defaultdict(set))
    told_count: int = 0
    repeated_count: int = 0

    def row(self) -> dict[str, Any]:
        ordered = sorted(self.latencies_ms)
        return {
            "prompts": len(ordered),
            "sessions": len(self.bytes_of),
            "told": round(sum(size > 0 for size in self.sizes) / len(self.sizes), 3),
            "session_bytes": round(statistics.fmean(self.bytes_of.values())),
            "told_records": self.told_count,
            "repeated": self.repeated_count,
            "p50_ms": round(ordered[len(ordered) // 2], 1),
            "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
        }


async def replay(history: History, model: KeptModel, config: RecallConfig, *, remembers_sessions: bool) -> Replay:
    found = Replay()
    project_id = hashlib.sha256(history.name.encode()).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        async with running_services(Path(folder), model, config) as services:
            await wait_ready(services, history)
            session = ""
            for line, event_id in zip(history.events, event_ids(history), strict=True):
                event = read_event(line, event_id, history)
                if event.session_id != session:
                    if session:
                        await services.learn.flush(project_id)
                    session = event.session_id
                await services.capture.take(event)
                if event.kind is EventKind.PROMPT:
                    asking = session if remembers_sessions else str(event_id)
                    await ask(services, history, found, line["prompt"], said_in=session, asking=asking)
    return found


async def ask(services: Services, history: History, found: Replay, prompt: str, *, said_in: str, asking: str) -> None:
    answer = await services.recall.answer(history.namespace, TextBody(prompt), session_id=asking)
    size = len(answer.context.encode())
    found.latencies_ms.append(answer.latency_ms)
    found.sizes.append(size)
    found.bytes_of[said_in] += size
    known = found.told_to[said_in]
    found.told_count += len(answer.record_ids)
    found.repeated_count += len(known.intersection(answer.record_ids))
    known.update(answer.record_ids)


def read_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--patient", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = read_options()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    model = KeptModel(options.vectors)
    config = RecallConfig(budget_seconds=PATIENCE_SECONDS) if options.patient else RecallConfig()
    rows = []
    for history in histories_in(options.data, options.only):
        for name, remembers in (("before", False), ("after", True)):
            row = {"history": history.name, "replay": name}
            row |= trio.run(partial(replay, history, model, config, remembers_sessions=remembers)).row()
            print(json.dumps(row), flush=True)
            rows.append(row)
        model.keep()
    if options.json:
        options.json.write_text(json.dumps(about_this_run() | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
