"""Are the memories that a learner makes worth keeping? Draws some of each history for a reader to judge.

    python benchmarks/drawn_memories.py DATA [--only NAME ...] [--seed 1] [--count 20] [--judged FILE] [--json FILE]
        [--homes FOLDER]

DATA holds one folder a history, as benchmarks/histories.py reads it. The built-in learner learns each as one batch, as
a daemon without a model does when everything waits, but without merging (a few memories in a hundred). All memories
are put in the order of their first source event and title, and ``random.Random(seed)`` draws ``--count`` of them.
Each is printed with its key, type, day, title, text, facts and its prompt. The key is the line of its last source event
in ``events.jsonl`` and the beginning of a digest of its title, so it stays while the memory says the same.

``--judged`` reads verdicts, one a line: ``history``, ``seed``, ``key``, ``verdict`` (``keep``, ``thin`` or ``junk``:
"would I miss this next month?") and ``reason``. For each history it prints how many of the drawn memories are kept,
thin and junk, the share that is kept, and how many have no verdict. It does not print the memories.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.duplicates import all_records
from benchmarks.histories import END, History, event_ids, histories_in, parser_of, read_event
from benchmarks.many_records import about_this_run
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MemoryRecord

PROMPT_CHARACTERS = 600
SHOWN_FACTS = 6
VERDICTS = ("keep", "thin", "junk")


@attrs.frozen
class Drawn:
    """One memory of a history, the lines of its source events, and the prompts among these."""

    draft: RecordDraft | MemoryRecord
    lines: list[int]
    prompt: str

    @property
    def key(self) -> str:
        return f"{self.lines[-1]}-{hashlib.sha256(self.draft.title.encode()).hexdigest()[:6]}"


def made_of(history: History) -> Sequence[RecordDraft]:
    """The memories that the built-in learner makes of the whole history."""
    ids = event_ids(history)
    events = [read_event(line, event_id, history) for line, event_id in zip(history.events, ids, strict=True)]
    waiting = tuple(BufferedEvent(event, position, 1) for position, event in enumerate(events, start=1))
    return drafts_of(BufferSnapshot(waiting))


async def kept_in(database: Path, history: History) -> Sequence[MemoryRecord]:
    """The memories in a copy of ``database``, which is not changed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(database, folder)
        storage = await open_sqlite_storage(Path(copy), StorageConfig(), utc_now=lambda: datetime.now(UTC))
        try:
            return [record async for record in all_records(storage, history.namespace)]
        finally:
            await storage.close()


def drawn_from(
    history: History, drafts: Sequence[RecordDraft | MemoryRecord], *, seed: int, count: int
) -> tuple[int, list[Drawn]]:
    """The count of all memories, and the drawn ones in the order of their source events."""
    line_of = {event_id: line for line, event_id in enumerate(event_ids(history))}
    made: list[Drawn] = []
    for draft in drafts:
        lines = sorted(line_of[event_id] for event_id in draft.source_event_ids)
        prompts = (history.events[line].get("prompt", "") for line in lines)
        made.append(Drawn(draft, lines, "\n".join(filter(None, prompts))))
    made.sort(key=lambda each: (each.lines[0], each.draft.title))
    places = sorted(random.Random(seed).sample(range(len(made)), min(count, len(made))))
    return len(made), [made[place] for place in places]


def show(drawn: Drawn, history: History) -> str:
    draft = drawn.draft
    prompt = drawn.prompt[:PROMPT_CHARACTERS].replace("\n", "\n    ")
    facts = "".join(f"\n  * {fact}" for fact in draft.facts[:SHOWN_FACTS])
    more = len(draft.facts) - SHOWN_FACTS
    day = history.events[drawn.lines[-1]]["ts"][:10]
    return (
        f"[{drawn.key}] {draft.knowledge_type or draft.observation_type}, {day}\n"
        f"  {draft.title}\n  prompt: {prompt}\n  {draft.summary}{facts}" + (f"\n  (+{more} facts)" if more > 0 else "")
    )


def counted(history: str, seed: int, drawn: list[Drawn], judged: Mapping[tuple[str, int, str], str]) -> dict[str, Any]:
    """The counts of verdicts on the drawn memories, and the share that is worth keeping."""
    found = Counter(judged.get((history, seed, each.key), "unjudged") for each in drawn)
    judged_count = sum(found[verdict] for verdict in VERDICTS)
    share = round(found["keep"] / judged_count, 3) if judged_count else None
    return {verdict: found[verdict] for verdict in (*VERDICTS, "unjudged")} | {"worth_keeping": share}


def verdicts_in(path: Path) -> dict[tuple[str, int, str], str]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for row in rows:
        if row["verdict"] not in VERDICTS:
            raise SystemExit(f"{path}: {row['key']} is judged {row['verdict']!r}; it may be {', '.join(VERDICTS)}")
    return {(row["history"], row["seed"], row["key"]): row["verdict"] for row in rows}


def read_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--homes", type=Path)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    judged = verdicts_in(options.judged) if options.judged else None
    rows = []
    for history in histories_in(options.data, options.only):
        made: Sequence[RecordDraft | MemoryRecord] = (
            trio.run(kept_in, options.homes / history.name / END, history) if options.homes else made_of(history)
        )
        total, drawn = drawn_from(history, made, seed=options.seed, count=options.count)
        sessions = len({line["session_id"] for line in history.events})
        row = {
            "history": history.name,
            "memories": total,
            "a_session": round(total / sessions, 1),
            "seed": options.seed,
        }
        if judged is None:
            print("\n\n".join(show(each, history) for each in drawn))
        else:
            row |= counted(history.name, options.seed, drawn, judged)
        print(json.dumps(row), flush=True)
        rows.append(row | {"drawn": [each.key for each in drawn]})
    if options.json:
        options.json.write_text(json.dumps(about_this_run() | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
