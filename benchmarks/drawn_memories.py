"""Are the memories that the built-in learner keeps worth keeping? Draws some of each history, for somebody to read.

    python benchmarks/drawn_memories.py DATA [--only NAME ...] [--seed 1] [--count 20] [--vectors FILE]
        [--judged FILE] [--json FILE]

DATA holds one folder a history, as benchmarks/histories.py reads it. Each is stored and learned by a daemon's services
in this process (SQLite, the bundled model, no model that words memories), then ``--count`` of its memories are drawn by
``random.Random(seed)`` from all of them, in the order of their first source event and title. Each is printed with its
key, type, title, text, facts and the prompt it is from. The key is the line of its last source event in
``events.jsonl`` and the beginning of a digest of its title, so it stays while the memory says the same.

``--judged`` reads verdicts, one a line: ``history``, ``seed``, ``key``, ``verdict`` (``keep``, ``thin`` or ``junk``:
"would I miss this next month?") and ``reason``. Printed is then, for each history, how many of those drawn are kept,
thin and junk, the share that is kept, and how many have no verdict; the memories themselves are not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import PATIENCE_SECONDS, History, KeptModel, histories_in, learn, parser_of, running_services
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.services.services import Services

MOST_RECORDS = 500
PROMPT_CHARACTERS = 600
SHOWN_FACTS = 6
VERDICTS = ("keep", "thin", "junk")


@attrs.frozen
class Drawn:
    """One memory of a history, with the prompt it is from."""

    key: str
    record: MemoryRecord
    prompt: str


async def drawn_from(history: History, model: KeptModel, *, seed: int, count: int) -> tuple[int, list[Drawn]]:
    """How many memories ``history`` makes, and those that are drawn, in the order of what they are from."""
    with tempfile.TemporaryDirectory() as folder:
        config = RecallConfig(budget_seconds=PATIENCE_SECONDS)
        async with running_services(Path(folder), model, config) as services:
            line_of = await learn(services, history)
            records = await all_records(services, history)
    records.sort(key=lambda record: (line_of[record.source_event_ids[0]], record.title))
    places = sorted(random.Random(seed).sample(range(len(records)), min(count, len(records))))
    return len(records), [_drawn(history, records[place], line_of) for place in places]


async def all_records(services: Services, history: History) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    while True:
        page = await services.queries.records(namespace=history.namespace, limit=MOST_RECORDS, offset=len(found))
        found += page.items
        if not page.items or len(found) >= page.total:
            return found


def _drawn(history: History, record: MemoryRecord, line_of: Mapping[EventId, int]) -> Drawn:
    lines = sorted(line_of[event_id] for event_id in record.source_event_ids)
    prompts = [history.events[line].get("prompt", "") for line in lines]
    digest = hashlib.sha256(record.title.encode()).hexdigest()[:6]
    return Drawn(f"{lines[-1]}-{digest}", record, "\n".join(filter(None, prompts)))


def show(drawn: Drawn) -> str:
    record = drawn.record
    prompt = drawn.prompt[:PROMPT_CHARACTERS].replace("\n", "\n    ")
    facts = "".join(f"\n  * {fact}" for fact in record.facts[:SHOWN_FACTS])
    more = len(record.facts) - SHOWN_FACTS
    return (
        f"[{drawn.key}] {record.type_name}, {record.created_at:%Y-%m-%d}, {record.origin or 'nobody'}\n"
        f"  {record.title}\n  prompt: {prompt}\n  {record.summary}{facts}"
        + (f"\n  (+{more} facts)" if more > 0 else "")
    )


def counted(history: str, seed: int, drawn: list[Drawn], judged: Mapping[tuple[str, int, str], str]) -> dict[str, Any]:
    """What was judged of those that are drawn."""
    found = Counter(judged.get((history, seed, each.key), "unjudged") for each in drawn)
    judged_count = sum(found[verdict] for verdict in VERDICTS)
    share = round(found["keep"] / judged_count, 3) if judged_count else None
    return {verdict: found[verdict] for verdict in (*VERDICTS, "unjudged")} | {"worth_keeping": share}


def verdicts_in(path: Path) -> dict[tuple[str, int, str], str]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for row in rows:
        if row["verdict"] not in VERDICTS:
            raise SystemExit(
                f"{path}: {row['key']} is judged {row['verdict']!r}; it may be one of {', '.join(VERDICTS)}"
            )
    return {(row["history"], row["seed"], row["key"]): row["verdict"] for row in rows}


def read_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    judged = verdicts_in(options.judged) if options.judged else None
    model = KeptModel(options.vectors)
    rows = []
    for history in histories_in(options.data, options.only):
        total, drawn = trio.run(partial(drawn_from, history, model, seed=options.seed, count=options.count))
        sessions = len({line["session_id"] for line in history.events})
        row = {
            "history": history.name,
            "memories": total,
            "a_session": round(total / sessions, 1),
            "seed": options.seed,
        }
        if judged is not None:
            row |= counted(history.name, options.seed, drawn, judged)
        else:
            print("\n\n".join(map(show, drawn)))
        print(json.dumps(row), flush=True)
        rows.append(row | {"drawn": [each.key for each in drawn]})
        model.keep()
    if options.json:
        options.json.write_text(json.dumps(about_this_run() | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
