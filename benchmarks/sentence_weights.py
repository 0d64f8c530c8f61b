"""Which words and signs tell standing rules and choices for the project from a person's other sentences?

    python benchmarks/sentence_weights.py SESSIONS [--folds 8] [--write]

Fits the weights of ``learning.extraction.extractive.sentence_classes``: two logistic regressions with a ridge, on the
sentences of ``data/kept/sentences.jsonl``, of the prompts of ``rules_seen.jsonl``, and of the halves of ``rules.jsonl``
and ``choices.jsonl`` to work on. Sentences that are neither come from real prompts of the histories in SESSIONS,
without those that a reader took for a rule or a choice (``real_ones.txt`` has their digests). Prints at several odds
which share of each source is found and wrongly found, and which share of real sentences. Each sentence is judged by
weights that were fitted without it. ``--write`` writes the weights into the package.

Judge the fit by ``benchmarks/kept.py --half judge`` and ``--only prompts``, whose authors wrote none of this data.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import histories_in
from benchmarks.kept import DATA, SEED, half_of, squeezed
from kiro_learn.learning.extraction.extractive import sentence_classes
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.sentence_classes import BIAS, SIGN_VALUE, signs_of, words_of

CLASSES = ("rule", "choice")
LONGEST_REAL = 600
LEAST_COUNT = 3
LEAST_WEIGHT = 0.3
RIDGE, STEPS, POWER_STEPS = 0.06, 1_500, 20
ODDS = (-1.0, -0.5, 0.0, 0.3, 0.5, 1.0)
WRITTEN = Path(sentence_classes.__file__).with_name("sentence_weights.json")

Doubles: TypeAlias = npt.NDArray[np.float64]


@attrs.frozen
class Sentence:
    """One sentence to learn from."""

    text: str
    of_class: str
    source: str


@attrs.frozen
class Rows:
    """The features of all sentences with their values; the features of one sentence follow each other."""

    columns: npt.NDArray[np.intp]
    values: Doubles
    rows: npt.NDArray[np.intp]
    count: int

    def odds(self, weights: Doubles) -> Doubles:
        return np.bincount(self.rows, self.values * weights[self.columns], self.count).astype(np.float64)

    def summed(self, of_rows: Doubles, size: int) -> Doubles:
        return np.bincount(self.columns, self.values * of_rows[self.rows], size).astype(np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("--folds", type=int, default=8)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sentences = list(all_sentences(options.sessions))
    folds = np.array(random.Random(SEED).choices(range(options.folds), k=len(sentences)))
    odds = {name: np.zeros(len(sentences)) for name in CLASSES}
    for fold in range(options.folds):
        left = np.flatnonzero(folds != fold)
        names, fitted = fit([sentences[place] for place in left])
        held = np.flatnonzero(folds == fold)
        rows = rows_of([sentences[place].text for place in held], names)
        for name in CLASSES:
            odds[name][held] = rows.odds(fitted[name])
    print(json.dumps(Counter(f"{each.source} {each.of_class}" for each in sentences)))
    for name in CLASSES:
        for threshold in ODDS:
            print(json.dumps({"class": name, "odds": threshold} | found_at(threshold, sentences, odds[name], name)))
    if options.write:
        write(*fit(sentences))


def all_sentences(sessions: Path) -> Iterator[Sentence]:
    for case in cases_in("sentences"):
        yield Sentence(case["text"], case["class"], "sentences")
    yield from of_prompts(cases_in("rules_seen"), "rule", "seen")
    yield from of_prompts(half_of(DATA / "rules.jsonl", "work"), "rule", "rules")
    yield from of_prompts(half_of(DATA / "choices.jsonl", "work"), "choice", "choices")
    prompts = {line.get("prompt", "") for history in histories_in(sessions) for line in history.events}
    real = sorted({said for prompt in prompts if len(prompt) <= LONGEST_REAL for said in own_sentences(prompt)})
    ones = set((DATA / "real_ones.txt").read_text("utf-8").split())
    yield from (Sentence(text, "neither", "real") for text in real if digest_of(text) not in ones)


def digest_of(text: str) -> str:
    """The digest by which a sentence is named that we may not copy."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cases_in(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def of_prompts(cases: Sequence[dict[str, Any]], of_class: str, source: str) -> Iterator[Sentence]:
    """The sentences of prompts. If the case names words of its rule or choice, other sentences count as neither."""
    for case in cases:
        words = case.get("rule_words") or case.get("words") or ()
        for said in own_sentences(case["prompt"]):
            is_one = case[of_class] and (not words or any(squeezed(word) in squeezed(said) for word in words))
            yield Sentence(said, of_class if is_one else "neither", source)


def fit(sentences: Sequence[Sentence]) -> tuple[dict[str, int], dict[str, Doubles]]:
    """The columns by name, and the weights of each class."""
    counts = Counter(word for each in sentences for word in words_of(each.text))
    known = sorted(word for word, count in counts.items() if count >= LEAST_COUNT)
    signs = sorted({f"sign {sign}" for each in sentences for sign in signs_of(each.text)})
    names = {name: column for column, name in enumerate((BIAS, *known, *signs))}
    rows = rows_of([each.text for each in sentences], names)
    return names, {
        name: fitted(rows, np.array([float(each.of_class == name) for each in sentences]), len(names))
        for name in CLASSES
    }


def rows_of(texts: Sequence[str], names: dict[str, int]) -> Rows:
    columns: list[int] = []
    values: list[float] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        found = words_of(text)
        words = [names[word] for word in found if word in names]
        signs = [names[f"sign {sign}"] for sign in signs_of(text) if f"sign {sign}" in names]
        columns += [names[BIAS], *words, *signs]
        values += [1.0, *[len(found) ** -0.5] * len(words), *[SIGN_VALUE] * len(signs)]
        rows += [row] * (1 + len(words) + len(signs))
    return Rows(np.array(columns), np.array(values), np.array(rows), len(texts))


def fitted(rows: Rows, wanted: Doubles, size: int, *, ridge: float = RIDGE) -> Doubles:
    """The weights by gradient descent with momentum (Nesterov); the bias, the first one, has no ridge.

    The step is the longest that is safe: one over the steepest curvature, found by power iteration.
    """
    weights, ahead = np.zeros(size), np.zeros(size)
    direction = np.ones(size)
    for _ in range(POWER_STEPS):
        direction = rows.summed(rows.odds(direction), size)
        steepest = float(np.linalg.norm(direction))
        direction /= steepest
    rate = 1 / (steepest / 4 + ridge)
    ridges = np.full(size, ridge)
    ridges[0] = 0.0
    for step in range(STEPS):
        likely = 1 / (1 + np.exp(-rows.odds(ahead)))
        before, weights = weights, ahead - rate * (rows.summed(likely - wanted, size) + ridges * ahead)
        ahead = weights + step / (step + 3) * (weights - before)
    return weights


def found_at(threshold: float, sentences: Sequence[Sentence], odds: Doubles, name: str) -> dict[str, str | float]:
    """The share of each source that is found: of sentences of the class, and wrongly of others."""
    found: dict[str, str | float] = {}
    for source in dict.fromkeys(each.source for each in sentences):
        here = [
            (each.of_class == name, value >= threshold)
            for each, value in zip(sentences, odds, strict=True)
            if each.source == source
        ]
        wanted, others = [at for is_one, at in here if is_one], [at for is_one, at in here if not is_one]
        if source == "real":
            found["share of real"] = round(sum(others) / len(others), 4)
        elif wanted:
            found[source] = f"{sum(wanted)} of {len(wanted)}, wrongly {sum(others)} of {len(others)}"
    return found


def write(names: dict[str, int], weights: dict[str, Doubles]) -> None:
    """Write a line for each feature. Features with almost no weight are left out."""
    rounded = {name: [round(float(weights[each][column]), 2) for each in CLASSES] for name, column in names.items()}
    rounded = {name: each for name, each in rounded.items() if name == BIAS or max(map(abs, each)) >= LEAST_WEIGHT}
    lines = (f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(each)}" for name, each in rounded.items())
    WRITTEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
