"""What does the graph hold once a model has learned a history, and from which words was it learned?

    python benchmarks/graph_learned.py DATA --llm-url URL --llm-model NAME [--prompt-tokens 32000] [--only NAME ...]
        [--most 100] [--vectors FILE]

A daemon's services learn each history of DATA (see ``histories.py``), by the rules and by the model of an
OpenAI-compatible server on this machine. Prints counts, how many fragments of the model's answers were refused and why,
and a fixed random sample of each kind with the words that speak for it, for a reader to judge.
"""

from __future__ import annotations

import collections
import json
import random
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.context_ablation import MOST_ITEMS, a_daemon, counts
from benchmarks.histories import (
    History,
    KeptModel,
    asked_at,
    behind_after,
    event_ids,
    histories_in,
    learn,
    parser_of,
    read_event,
)
from kiro_learn.config import LlmConfig
from kiro_learn.learning.graph.without_model import own_words_of
from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphKind, Preference, Procedure
from kiro_learn.model.ids import EventId
from kiro_learn.services.services import Services

SEED = 20261123
SHOWN = 300
"""The most characters that are shown of the text that an item was learned from."""

refused: collections.Counter[str] = collections.Counter()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--llm-url", required=True)
    parser.add_argument("--llm-model", default="model")
    parser.add_argument("--prompt-tokens", type=int, default=LlmConfig().prompt_tokens)
    parser.add_argument("--most", type=int, default=100)
    options = parser.parse_args()
    structlog.configure(processors=[_note], logger_factory=structlog.ReturnLoggerFactory())
    llm = asked_at(options.llm_url, options.llm_model, options.prompt_tokens)
    model = KeptModel(options.vectors)
    for history in histories_in(options.data, options.only):
        trio.run(_show, history, model, llm, options.most)
        model.keep()


def _note(_: object, __: str, event: MutableMapping[str, Any]) -> str:
    if event["event"] == "learning.fragments_refused":
        refused.update({name: value for name, value in event.items() if name != "event"})
    return ""


async def _show(history: History, model: KeptModel, llm: LlmConfig, most: int) -> None:
    refused.clear()
    with tempfile.TemporaryDirectory() as home:
        async with a_daemon(Path(home), model, llm, behind=behind_after(history)) as services:
            await learn(services, history)
            found = await counts(services, history)
            print(json.dumps({"history": history.name, **found, "refused": dict(refused)}))
            for kind in (GraphKind.ENTITY, GraphKind.FACT, GraphKind.PREFERENCE, GraphKind.PROCEDURE):
                await _show_kind(services, history, kind, most)


async def _show_kind(services: Services, history: History, kind: GraphKind, most: int) -> None:
    lines = dict(zip(event_ids(history), history.events, strict=True))
    graph = services.graph_items
    page = await graph.list(history.project, kind, limit=MOST_ITEMS)
    items = sorted(page.items, key=_told)
    for item in random.Random(SEED).sample(items, min(most, len(items))):
        shown = await graph.show(history.project, item.item_id)
        source = next((each.event_id for each in shown.evidence), None)
        words = "" if source is None else _words(history, lines, source, _told(item))
        print(f"{kind.name.lower()} | {_told(item)} <- {json.dumps(words, ensure_ascii=False)}")


def _told(item: GraphItem) -> str:
    match item:
        case Entity(name=name, type=type_, description=description):
            return f"{name} ({type_}) {description}".strip()
        case Fact(subject=subject, predicate=predicate, object=object_):
            return f"{subject} {predicate} {object_}"
        case Preference(category=category, key=key, value=value):
            return f"{category}.{key}: {value}"
        case Procedure(name=name, steps=steps):
            return f"{name}: {' -> '.join(steps)}"
        case _:
            return ""


def _words(history: History, lines: Mapping[EventId, dict[str, Any]], event_id: EventId, told: str) -> str:
    """The part around the item's words, in the person's text, else in the whole event."""
    event = read_event(lines[event_id], event_id, history)
    said = "\n".join(f"{each.asked} {each.text}".strip() for each in own_words_of(event))
    text = said or json.dumps(lines[event_id], ensure_ascii=False)
    places = (text.lower().find(word.lower()) for word in reversed(told.split()))
    place = next((each for each in places if each > 0), 0)
    return text[max(0, place - SHOWN // 2) :][:SHOWN]


if __name__ == "__main__":
    main()
