"""What does the graph learn without a model, and how much of it is right?

    python benchmarks/graph_sample.py DATA [--only HISTORY ...] [--most 100] [--batch 200]

Runs the rules over each history of DATA (see ``histories.py``), in batches as the daemon cuts them, and prints counts
and, for each kind, a fixed random sample with the sentence or command that each was learned from, for an eye to judge.
docs/graph-sample.md has the verdicts.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.histories import History, event_ids, read_event
from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.learning.graph.rules import drafts_of_events
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import Event, TextBody
from kiro_learn.model.graph_drafts import GraphDrafts

SEED = 20261123
SHOWN = 240
"""Characters of what an item was learned from."""
EARLIER = 3
"""Prompts of the same session that are shown before a batch."""


def main() -> None:
    """Print the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--batch", type=int, default=200)
    options = parser.parse_args()
    for folder in sorted(options.data.iterdir()):
        if folder.is_dir() and (not options.only or folder.name in options.only):
            _show(History.read(folder), most=options.most, batch=options.batch)


def _show(history: History, *, most: int, batch: int) -> None:
    events = [
        read_event(line, event_id, history) for line, event_id in zip(history.events, event_ids(history), strict=True)
    ]
    texts = {event.event_id: _text(event) for event in events}
    rows: dict[str, list[str]] = {"facts": [], "preferences": [], "procedures": []}
    names: set[str] = set()
    for drafts in _learned(events, batch):
        for fact in drafts.facts:
            names |= {fact.subject} | ({fact.object} if PREDICATES[fact.predicate].object_type else set())
            sign = "NOT " if fact.is_denied else ""
            old = f" (instead of {fact.replaces})" if fact.replaces else ""
            row = f"{fact.subject} {sign}{fact.predicate} {fact.object}{old} [{fact.source_type}]"
            rows["facts"].append(f"{row} <- {_around(texts[fact.source.event_id], fact.object)}")
        for wish in drafts.preferences:
            sign = "NOT " if wish.is_denied else ""
            row = f"{sign}{wish.category}.{wish.key}: {wish.value}"
            rows["preferences"].append(f"{row} <- {_around(texts[wish.source.event_id], wish.value)}")
        for way in drafts.procedures:
            row = f"{way.name}: {' -> '.join(way.steps)}"
            rows["procedures"].append(f"{row} <- {_around(texts[way.source.event_id], way.steps[0])}")
    counts = {kind: len(found) for kind, found in rows.items()}
    print(json.dumps({"history": history.name, "events": len(events), "entities": len(names), **counts}))
    print("entities:", ", ".join(sorted(names)))
    dice = random.Random(SEED)
    for kind, found in rows.items():
        for row in dice.sample(found, min(most, len(found))):
            print(f"{kind} | {row}")


def _learned(events: list[Event], size: int) -> Iterator[GraphDrafts]:
    for start in range(0, len(events), size):
        entries = tuple(
            BufferedEvent(event, position, 0) for position, event in enumerate(events[start : start + size], start=1)
        )
        sessions = {entry.event.session_id for entry in entries}
        earlier = [event for event in events[:start] if event.session_id in sessions and event.kind == "prompt"]
        yield drafts_of_events(BufferSnapshot(entries, tuple(earlier[-EARLIER:])))


def _text(event: Event) -> str:
    return event.body.content if isinstance(event.body, TextBody) else json.dumps(getattr(event.body, "data", ""))


def _around(text: str, what: str) -> str:
    place = max(0, text.lower().find(what.lower()) - SHOWN // 2)
    return json.dumps(text[place : place + SHOWN], ensure_ascii=False)


if __name__ == "__main__":
    main()
