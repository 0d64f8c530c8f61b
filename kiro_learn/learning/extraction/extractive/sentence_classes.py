"""What a person says with a sentence: a rule for the project, a choice, or neither.

A linear classifier: each word, each pair of words, how the sentence begins and ends, and each sign in it
(``sentence_signs``) has a weight, and their sum is the logarithm of the odds. The weights are those of a logistic
regression, fitted by ``benchmarks/sentence_weights.py``, which says on what, and how well it does on what it has not
seen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise

import attrs

from kiro_learn.learning.extraction.extractive.sentence_signs import signs_of
from kiro_learn.retrieval.kept_texts import kept

MOST_KEPT = 1_024
"""Sentences whose odds are kept: those of a prompt are asked for by several readers."""

RULE_AT, CHOICE_AT = 0.5, -0.2
"""From which odds on a sentence is one: a wrong rule stands in every brief, so fewer are found than could be."""

SIGN_VALUE = 0.3
"""Of a sign, beside words whose squares sum to 1."""

_TOKEN = re.compile(r"[^\W\d_]{1,40}(?:'[a-z]{1,4})?|\d+|[.,:;!?]")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_TOKENS, _LENGTH_STEP, _LONGEST = 40, 4, 6


@attrs.frozen
class Odds:
    """The logarithms of the odds that a sentence is a rule, and that it is a choice."""

    rule: float
    choice: float

    @property
    def is_rule(self) -> bool:
        """It lays down how things are done from now on."""
        return self.rule >= RULE_AT and self.rule >= self.choice

    @property
    def is_choice(self) -> bool:
        """It chooses, rejects or replaces something for the project."""
        return self.choice >= CHOICE_AT and not self.is_rule


@kept(MOST_KEPT)
def odds_of(sentence: str) -> Odds:
    """The odds of ``sentence``, which its author says and does not ask."""
    weights = _weights()
    found = words_of(sentence)
    words = [word for word in found if word in weights]
    share = 1 / math.sqrt(len(found)) if found else 0.0
    valued = [*((word, share) for word in words), *((f"sign {name}", SIGN_VALUE) for name in signs_of(sentence))]
    rule, choice = weights[BIAS]
    for name, value in valued:
        of_rule, of_choice = weights.get(name, (0.0, 0.0))
        rule += value * of_rule
        choice += value * of_choice
    return Odds(rule, choice)


BIAS = "(bias)"
"""The name of what every sentence has."""


@cache
def _weights() -> Mapping[str, tuple[float, float]]:
    text = files(__package__).joinpath("sentence_weights.json").read_text("utf-8")
    return {name: (rule, choice) for name, (rule, choice) in json.loads(text).items()}


def words_of(sentence: str) -> frozenset[str]:
    """What of the words of ``sentence`` has a weight: words, pairs, its first and last ones, and its length."""
    tokens = list(_tokens(sentence))[:_MOST_TOKENS]
    pairs = {f"{one} {other}" for one, other in pairwise(tokens)}
    ends = {f"^ {' '.join(tokens[:count])}" for count in (1, 2, 3)} | {
        f"{' '.join(tokens[-count:])} $" for count in (1, 2)
    }
    return frozenset({*tokens, *pairs, *ends, f"length {min(_LONGEST, len(tokens) // _LENGTH_STEP)}"})


def _tokens(sentence: str) -> Iterator[str]:
    for token in _TOKEN.findall(sentence.replace("\u2019", "'").lower().rstrip(" .")):
        if token.isdigit():
            yield "#"
        elif _NO_SPACES.search(token):
            yield from token
        else:
            yield token
