"""Which weights tell a standing rule from what was said for the moment?

    python benchmarks/rule_weights.py SESSIONS [--folds 10]

Fits the weights of ``learning.extraction.extractive.rule_signs`` by a logistic regression on the sentences of prompts:
those of ``data/kept/rules_seen.jsonl`` and of the half of ``data/kept/rules.jsonl`` that is there to work on, and, as
what is no rule, of 800 real prompts of the histories in SESSIONS (a few of which are rules, so they count half). Prints
recall and precision at several thresholds, each prompt judged by weights that were fitted without it, and then the
weights of all, as the module has them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import histories_in
from benchmarks.kept import DATA, SEED, half_of, squeezed
from kiro_learn.learning.extraction.extractive import rule_signs
from kiro_learn.learning.extraction.extractive.own_sentences import own_sentences

REAL_PROMPTS, LONGEST_REAL = 5_000, 600
STEPS, RATE, RIDGE = 1_500, 3.0, 3.0
THRESHOLDS = (-1.0, -0.5, 0.0, 0.5, 1.0)

Doubles: TypeAlias = npt.NDArray[np.float64]


@attrs.frozen
class Prompt:
    """One to learn from: the signs of its sentences, which of these are rules, and how much each counts."""

    signs: Sequence[frozenset[str]]
    is_rule: Sequence[bool]
    weight: float
    source: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    prompts = [each for each in all_prompts(options.sessions) if each.signs]
    folds = random.Random(SEED).choices(range(options.folds), k=len(prompts))
    scores = [0.0] * len(prompts)
    for fold in range(options.folds):
        weights = fitted([each for each, of in zip(prompts, folds, strict=True) if of != fold])
        for place, each in enumerate(prompts):
            if folds[place] == fold:
                scores[place] = max(score(signs, weights) for signs in each.signs)
    for threshold in THRESHOLDS:
        print(json.dumps({"threshold": threshold} | at(threshold, prompts, scores)))
    *weights_of_all, bias = (round(float(each), 1) for each in fitted(prompts))
    print(f"BIAS = {bias}\nWEIGHTS = {{")
    for name, weight in zip(rule_signs.all_signs(), weights_of_all, strict=True):
        print(f'    "{name}": {weight},')
    print("}")


def all_prompts(sessions: Path) -> Iterator[Prompt]:
    seen = [json.loads(line) for line in (DATA / "rules_seen.jsonl").read_text("utf-8").splitlines()]
    yield from (labelled(case, 2.0, "seen") for case in seen)
    yield from (labelled(case, 3.0, "work") for case in half_of(DATA / "rules.jsonl", "work"))
    said = {line.get("prompt", "") for history in histories_in(sessions) for line in history.events}
    real = sorted(said - {"", *(case["prompt"] for case in seen)})
    real = [each for each in real if len(each) <= LONGEST_REAL]
    for prompt in random.Random(SEED).sample(real, min(REAL_PROMPTS, len(real))):
        yield labelled({"prompt": prompt, "rule": False}, 1.0, "real")


def labelled(case: dict[str, Any], weight: float, source: str) -> Prompt:
    """Where words of the rule are named, only the sentences that have them are rules."""
    said, words = own_sentences(case["prompt"]), case.get("rule_words") or ()
    rules = [
        case["rule"] and (not words or any(squeezed(word) in squeezed(sentence) for word in words)) for sentence in said
    ]
    return Prompt([*signs_in(said)], rules, weight, source)


def signs_in(said: Sequence[str]) -> Iterator[frozenset[str]]:
    """The signs of each sentence; beside work is one where another sentence asks for some."""
    work = [rule_signs.asks_for_work(sentence) for sentence in said]
    for sentence, is_work in zip(said, work, strict=True):
        beside = {rule_signs.BESIDE_WORK} if sum(work) > is_work else frozenset[str]()
        yield rule_signs.signs_of(sentence) | beside


def row(signs: frozenset[str]) -> list[float]:
    return [*(float(name in signs) for name in rule_signs.all_signs()), 1.0]


def score(signs: frozenset[str], weights: Doubles) -> float:
    return float(np.dot(row(signs), weights))


def fitted(prompts: Sequence[Prompt]) -> Doubles:
    """The weights, the last one that of all sentences, by gradient descent with a ridge."""
    rows = np.array([row(signs) for each in prompts for signs in each.signs])
    wanted = np.array([float(is_rule) for each in prompts for is_rule in each.is_rule])
    counts = np.array([each.weight * (1.5 if is_rule else 1.0) for each in prompts for is_rule in each.is_rule])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ ((likely - wanted) * counts) + RIDGE * np.append(weights[:-1], 0.0)
        weights -= RATE * slope / counts.sum()
    return weights


def at(threshold: float, prompts: Sequence[Prompt], scores: Sequence[float]) -> dict[str, Any]:
    """Recall and precision of each source, and which share of real prompts would be a rule."""
    found: dict[str, Any] = {}
    for source in ("seen", "work"):
        here = [
            (any(each.is_rule), got >= threshold)
            for each, got in zip(prompts, scores, strict=True)
            if each.source == source
        ]
        right = sum(is_rule and is_found for is_rule, is_found in here)
        found[source] = {
            "recall": round(right / max(1, sum(is_rule for is_rule, _ in here)), 2),
            "precision": round(right / max(1, sum(is_found for _, is_found in here)), 2),
        }
    real = [got >= threshold for each, got in zip(prompts, scores, strict=True) if each.source == "real"]
    return found | {"of real prompts": round(sum(real) / max(1, len(real)), 4)}


if __name__ == "__main__":
    main()
