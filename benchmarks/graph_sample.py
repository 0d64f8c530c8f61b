"""What does the graph learn without a model, and how much of it is right?

    python benchmarks/graph_sample.py [DATA] [--locomo FOLDER] [--only NAME ...] [--most 100]

Runs the rules over each history of DATA (see ``histories.py``) and each speaker of LoCoMo's conversations (see
``conversations.py``), in batches as the daemon cuts them, into a graph in memory. Prints counts for each project. For
each kind it prints a fixed random sample over all projects, with the sentence or command that each item was learned
from, for a reader to judge. docs/graph-sample.md has the verdicts.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import random
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import cast

import attrs
import structlog
from ulid import ULID

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.conversations import conversations_in
from benchmarks.histories import History, event_ids, read_event
from kiro_learn.learning.graph.without_model import drafts_of_events
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import Event, TextBody
from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, Preference, Procedure, Relationship
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one

SEED = 20261123
SHOWN = 240
"""The most characters that are shown of the text that an item was learned from."""
EARLIER = 3
"""The most earlier prompts of the same session that a batch gets."""
IDLE_SECONDS = 30.0
MOST_BYTES = 262_144
"""A batch ends at this size, or after a pause of IDLE_SECONDS: the daemon's defaults."""
EVIDENCE = "SELECT item_id, event_id FROM graph_evidence ORDER BY item_id, event_id"
KINDS = {Fact: "facts", Entity: "entities", Preference: "preferences", Procedure: "procedures"}


def main() -> None:
    """Print the counts and the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--only", nargs="+", help="names of histories and conversations, or how they begin")
    parser.add_argument("--most", type=int, default=100)
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    rows: dict[str, list[str]] = {kind: [] for kind in KINDS.values()}
    for name, events in _projects(options.data, options.locomo):
        if not options.only or name.startswith(tuple(options.only)):
            storage = learned(events)
            found = _rows(name, events, storage)
            for kind, of_kind in found.items():
                rows[kind] += of_kind
            counts = {kind: len(of_kind) for kind, of_kind in found.items()}
            print(json.dumps({"project": name, "events": len(events), **counts}))
    for kind, found_ in rows.items():
        dice = random.Random(SEED)
        for row in sorted(dice.sample(found_, min(options.most, len(found_)))):
            print(f"{kind} | {row}")


def _projects(data: Path | None, locomo: Path | None) -> Iterator[tuple[str, list[Event]]]:
    for folder in sorted(data.iterdir()) if data is not None else ():
        if folder.is_dir():
            history = History.read(folder)
            ids = event_ids(history)
            yield history.name, [read_event(*each, history) for each in zip(history.events, ids, strict=True)]
    if locomo is not None:
        yield from conversations_in(locomo)


class _Ids:
    """Gives ids to new items by counting, and the time of the last event."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._numbers = itertools.count(1)

    def utc_now(self) -> datetime:
        return self._now

    def new_ulid(self) -> str:
        return str(ULID.from_int(next(self._numbers)))


def learned(events: list[Event]) -> InMemoryStorage:
    """The storage after all batches."""
    storage = InMemoryStorage()
    learner = GraphLearner(clock=cast("ClockAndIds", _Ids(events[-1].valid_time)), offload=in_place, enabled=True)

    async def keep() -> None:
        for event in events:
            await transact_one(storage, lambda transaction, event=event: transaction.put_event(event, buffered=False))  # type: ignore[misc]  # mypy cannot infer a lambda with a default

    simulate(keep)
    for snapshot in _batches(events):
        drafts = drafts_of_events(snapshot)
        problem = storage.write_now(partial(learner.commit, namespace=events[0].namespace, drafts=drafts))
        assert problem is None, problem
    return storage


def _batches(events: list[Event]) -> Iterator[BufferSnapshot]:
    """The batches: events that wait when nothing came for a while, or when they are enough."""
    prompts: dict[str, collections.deque[Event]] = {}
    waiting: list[BufferedEvent] = []
    for position, (event, following) in enumerate(itertools.zip_longest(events, events[1:]), start=1):
        waiting.append(BufferedEvent(event, position, len(_text(event).encode())))
        is_idle = following is None or (following.valid_time - event.valid_time).total_seconds() > IDLE_SECONDS
        if is_idle or sum(each.size_bytes for each in waiting) > MOST_BYTES:
            sessions = {each.event.session_id for each in waiting}
            earlier = sorted(
                (each for session in sessions for each in prompts.get(session, ())), key=lambda each: each.event_id
            )
            yield BufferSnapshot(tuple(waiting), tuple(earlier))
            for each in waiting:
                if each.event.kind == "prompt":
                    kept = prompts.setdefault(each.event.session_id, collections.deque(maxlen=EARLIER))
                    kept.append(each.event)
            waiting.clear()


def _rows(name: str, events: list[Event], storage: InMemoryStorage) -> dict[str, list[str]]:
    """The items of each kind, one on a line."""
    texts = {event.event_id: _text(event) for event in events}
    said: dict[GraphItemId, list[str]] = collections.defaultdict(list)
    for item_id, event_id in storage.connection.execute(EVIDENCE):
        said[item_id].append(texts[event_id])
    rows: dict[str, list[str]] = {kind: [] for kind in KINDS.values()}
    for item in storage.graph_items(events[0].namespace):
        if not isinstance(item, Relationship):
            told, looked_for = _told(item)
            around = _around(next(iter(said[item.item_id]), ""), looked_for)
            rows[KINDS[type(item)]].append(f"{name} | {told} <- {around}")
    return rows


def _told(item: GraphItem) -> tuple[str, str]:
    """An item in short, and the words to look for in the text that it was learned from."""
    match item:
        case Fact():
            past = "" if item.is_current else " (past)"
            return f"{item.text}{past} [{item.source_type}]", item.object
        case Preference():
            past = "" if item.validity.is_current else " (past)"
            return f"{item.category}: {item.value}{past}", item.value
        case Procedure():
            return f"{item.name}: {' -> '.join(item.steps)}", item.steps[0]
        case Entity():
            return f"{item.name} ({item.type}, {item.mention_count} events)", item.name
    return attrs.asdict(item)["item_id"], ""


def _text(event: Event) -> str:
    return event.body.content if isinstance(event.body, TextBody) else json.dumps(getattr(event.body, "data", ""))


def _around(text: str, what: str) -> str:
    place = max(0, text.lower().find(what.lower()) - SHOWN // 2)
    return json.dumps(text[place : place + SHOWN], ensure_ascii=False)


if __name__ == "__main__":
    main()
