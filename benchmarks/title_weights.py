"""Which of the headings, sentences and items of an answer is its best title?

    python benchmarks/title_weights.py SESSIONS [--write]

Fits the weights of ``learning.extraction.extractive.titles``: a logistic regression with a ridge, on the candidates
that readers chose for turns of the histories in SESSIONS. ``data/kept/titles.jsonl`` has the line of a turn's answer,
digests of up to three candidates that would be good titles, the best first, and whether the turn is worth a memory.
Prints for each history, with weights fitted on the others: in how many turns the likeliest candidate is one of these,
and how often the first candidate is. Then, for the present learner, whose weights are fitted on all: how many turns are
kept, how many of these are worth it, which share of the worthy turns is kept, and how many titles begin with a chosen
candidate, after a heading or a question if there is one. ``--write`` writes the weights, fitted on all, into the
package.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import History, event_ids, histories_in, read_event
from benchmarks.sentence_weights import Doubles, Rows, cases_in, digest_of, fitted
from kiro_learn.learning.extraction.extractive import titles
from kiro_learn.learning.extraction.extractive.learner import drafts_of, earnest_answer
from kiro_learn.learning.extraction.extractive.titles import Candidate, candidates_in, likeness
from kiro_learn.learning.extraction.extractive.turns import read, turns_of
from kiro_learn.learning.extraction.extractive.vocabulary import words
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import Origin

RIDGE = 1.0
BEGINNING_WORDS = 5
WRITTEN = Path(titles.__file__).with_name("title_weights.json")


@attrs.frozen
class Choice:
    """A turn's candidates, and those that a reader chose."""

    history: str
    candidates: Sequence[Candidate]
    asked: frozenset[str]
    chosen: frozenset[int]
    worth: str
    """The reader's verdict on the turn: keep, thin or junk."""
    answer: EventId


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    choices = [choice for history in histories_in(options.sessions) for choice in choices_in(history)]
    for name in dict.fromkeys(choice.history for choice in choices):
        weights = fit([choice for choice in choices if choice.history != name])
        here = [choice for choice in choices if choice.history == name]
        right = sum(likeliest(choice, weights) in choice.chosen for choice in here)
        first = sum(0 in choice.chosen for choice in here)
        found = {
            "turns": len(here),
            "chosen": round(right / len(here), 2),
            "the first one": round(first / len(here), 2),
        }
        print(json.dumps({"history": name} | found))
    for history in histories_in(options.sessions):
        print(json.dumps({"history": history.name} | kept_of(history)))
    if options.write:
        rounded = {name: round(weight, 2) for name, weight in fit(choices).items()}
        WRITTEN.write_text(json.dumps(rounded, indent=0) + "\n", "utf-8")


def kept_of(history: History) -> dict[str, object]:
    """The figures of the turns that were read, when the learner learns the whole history at once."""
    titles_of = {
        event_id: draft.title
        for draft in drafts_of(snapshot_of(history))
        if draft.origin is Origin.ASSISTANT
        for event_id in draft.source_event_ids
    }
    read_turns = turns_read(history)
    kept = [turn for turn in read_turns if turn.answer in titles_of]
    worth_it = sum(turn.worth == "keep" for turn in kept)
    named = [turn for turn in kept if turn.chosen]
    right = sum(any(begins_with(titles_of[turn.answer], turn.candidates[at]) for at in turn.chosen) for turn in named)
    return {
        "kept": len(kept),
        "worth it": round(worth_it / len(kept), 2),
        "of those worth it": round(worth_it / sum(turn.worth == "keep" for turn in read_turns), 2),
        "titles chosen": round(right / len(named), 2),
    }


def begins_with(title: str, candidate: Candidate) -> bool:
    return " ".join(words(candidate.text)[:BEGINNING_WORDS]) in " ".join(words(title))


def choices_in(history: History) -> list[Choice]:
    """The turns with a chosen candidate among the candidates of today's learner."""
    return [turn for turn in turns_read(history) if turn.chosen]


def snapshot_of(history: History) -> BufferSnapshot:
    events = [read_event(line, made, history) for line, made in zip(history.events, event_ids(history), strict=True)]
    return BufferSnapshot(tuple(BufferedEvent(event, at, 0) for at, event in enumerate(events, start=1)))


def turns_read(history: History) -> list[Choice]:
    labels = {row["line"]: row for row in cases_in("titles") if row["history"] == history.name}
    batch = read(snapshot_of(history))
    found = []
    for turn in turns_of(batch.events):
        if turn.answer is None or turn.answer.number not in labels:
            continue
        candidates = candidates_in(earnest_answer(turn))
        digests = [title_digest(candidate.text) for candidate in candidates]
        label, asked = labels[turn.answer.number], titles.words_asked(turn.question)
        chosen = frozenset(at for at, digest in enumerate(digests) if digest in label["best"])
        (answer,) = batch.sources[turn.answer.number - 1]
        found.append(Choice(history.name, candidates, asked, chosen, label["worth"], answer))
    return found


def title_digest(text: str) -> str:
    """A digest of a candidate's words, so that it stays if marks are read in another way."""
    return digest_of(" ".join(words(text)[:12]))


def fit(choices: Sequence[Choice]) -> dict[str, float]:
    likenesses = [dict(likeness(each, choice.asked)) for choice in choices for each in choice.candidates]
    names = {name: column for column, name in enumerate(sorted(Counter(n for each in likenesses for n in each)), 1)}
    columns = [column for each in likenesses for column in (0, *(names[name] for name in each))]
    values = [value for each in likenesses for value in (1.0, *each.values())]
    rows = [row for row, each in enumerate(likenesses) for _ in range(1 + len(each))]
    wanted = [float(at in choice.chosen) for choice in choices for at in range(len(choice.candidates))]
    table = Rows(np.array(columns), np.array(values), np.array(rows), len(likenesses))
    weights: Doubles = fitted(table, np.array(wanted), len(names) + 1, ridge=RIDGE)
    return {name: float(weights[column]) for name, column in names.items()}


def likeliest(choice: Choice, weights: dict[str, float]) -> int:
    scores = [
        sum(value * weights.get(name, 0.0) for name, value in likeness(each, choice.asked))
        for each in choice.candidates
    ]
    return int(np.argmax(scores))


if __name__ == "__main__":
    main()
