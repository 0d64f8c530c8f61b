"""How much does a model read to learn a history?

    python benchmarks/price_of_learning.py DATA [--only NAME ...] [--prompt-tokens 32000] [--waits 30 300]

DATA holds one folder a history, as benchmarks/histories.py reads it. Each session is cut into prompts as a learning run
does it when the whole session waits; no model is asked. With ``--waits``, the project is learned as its events came: a
run begins when none came for so many seconds after an answer, or in the middle of a turn. One line a history:

    prompts      count of prompts to a model, of their sessions, and of runs that ended in the middle of a turn
    tokens       of these prompts in thousands, four characters counted as one
    a_session    thousands of tokens, on average; ``instructions``: the part of them that is the same in every prompt
    shares       of the events' characters: texts that were said, inputs and outputs of tools, and the marks around them
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import History, event_ids, histories_in, read_event
from kiro_learn.config import CHARACTERS_PER_TOKEN
from kiro_learn.learning.extraction.framing import ToolCall, Utterance, parts_of
from kiro_learn.learning.extraction.splitting import INSTRUCTIONS_CHARACTERS, portion, prompt_for
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import Event
from kiro_learn.services.capture import WITHIN_TURN

CHARACTERS_OF_A_TOKEN = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--prompt-tokens", type=int, default=32_000)
    parser.add_argument("--waits", type=float, nargs=2)
    options = parser.parse_args()
    for history in histories_in(options.data, options.only):
        priced = price(history, options.prompt_tokens * CHARACTERS_PER_TOKEN, options.waits)
        print(json.dumps({"history": history.name} | priced))


def price(history: History, most_characters: int, waits: Sequence[float] | None) -> dict[str, object]:
    read = [read_event(line, made, history) for line, made in zip(history.events, event_ids(history), strict=True)]
    by_session = sorted(read, key=lambda event: event.session_id)
    sessions = [tuple(events) for _, events in groupby(by_session, key=lambda event: event.session_id)]
    runs = sessions if waits is None else list(as_they_came(read, *waits))
    prompts = [prompt for run in runs for prompt in prompts_of(run, most_characters)]
    spent = sum((spent_on(event) for event in read), Counter[str]())
    characters = sum(map(len, prompts))
    spent["marks"] = characters - spent.total() - INSTRUCTIONS_CHARACTERS * len(prompts)
    return {
        "prompts": len(prompts),
        "sessions": len(sessions),
        "cut in a turn": sum(run[-1].kind in WITHIN_TURN for run in runs),
        "tokens": thousands(characters),
        "a_session": thousands(characters / len(sessions)),
        "instructions": thousands(INSTRUCTIONS_CHARACTERS * len(prompts) / len(sessions)),
        "shares": {name: round(count / spent.total(), 2) for name, count in spent.most_common()},
    }


def as_they_came(events: Sequence[Event], after_answer: float, in_turn: float) -> Iterator[tuple[Event, ...]]:
    """The events of each run. A run is due when no event comes for long enough."""
    waiting: list[Event] = []
    for event in sorted(events, key=lambda each: each.valid_time):
        if waiting:
            quiet = (event.valid_time - waiting[-1].valid_time).total_seconds()
            if quiet >= (in_turn if waiting[-1].kind in WITHIN_TURN else after_answer):
                yield tuple(waiting)
                waiting = []
        waiting.append(event)
    yield tuple(waiting)


def prompts_of(session: tuple[Event, ...], most_characters: int) -> Iterator[str]:
    waiting = BufferSnapshot(tuple(BufferedEvent(event, number, 0) for number, event in enumerate(session, start=1)))
    while waiting.entries:
        part = portion(waiting, most_characters - INSTRUCTIONS_CHARACTERS)
        yield prompt_for(part.batch)
        waiting = BufferSnapshot(waiting.entries[len(part.snapshot.entries) :])


def spent_on(event: Event) -> Counter[str]:
    spent = Counter[str]()
    for part in parts_of(event):
        if isinstance(part, Utterance):
            spent["said"] += len(part.text)
        elif isinstance(part, ToolCall):
            spent["given to tools"] += len(part.input)
            spent["shown by tools"] += len(part.output)
    return spent


def thousands(characters: float) -> float:
    return round(characters / CHARACTERS_OF_A_TOKEN / 1_000, 1)


if __name__ == "__main__":
    main()
