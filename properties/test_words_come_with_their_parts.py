"""The short cut finds the same words as the two expressions, and they choose the same facts."""

from __future__ import annotations

import math
import re
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.retrieval.rendering.passages import choose_facts, item_bytes, word_runs, words

PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
PIECES = st.one_of(
    st.text(), st.text("aAbB_1 \u00e9.\u00df\u017f"), st.sampled_from(["pool", "pools", "parseHTTP", "user_name"])
)
TEXTS = st.lists(PIECES).map(" ".join)
NAMES = st.sampled_from(["pool", "Pools", "SIZE", "size", "parseHTTP", "http", "stra\u00dfe", "STRASSE", "x1", "1"])
FACTS = st.lists(NAMES, min_size=1, max_size=3).map(" ".join)


def taken_apart(text: str) -> set[str]:
    whole = re.findall(r"\w+", text)
    parts = [part for word in whole for part in PART.findall(word)]
    return {word.casefold() for word in (*whole, *parts)}


@given(TEXTS)
@example("\u017ftra\u00dfe STRASSE na\u00efve x1")
@example("".join(map(chr, range(300))))
def test_each_word_is_there_whole_and_in_parts(text: str) -> None:
    assert word_runs(text) == re.findall(r"\w+", text)
    assert words(text) == taken_apart(text)


@given(facts=st.lists(FACTS, max_size=6), terms=st.lists(NAMES, max_size=3), budget=st.integers(-5, 50))
@example(facts=["size", "Pools"], terms=["pools"], budget=item_bytes("Pools"))
def test_facts_are_chosen_as_if_every_word_were_compared(facts: list[str], terms: list[str], budget: int) -> None:
    shared = [taken_apart(fact) & taken_apart(" ".join(terms)) for fact in facts]
    counts = Counter(word for each in shared for word in each)
    weights = [math.fsum(1 / counts[word] for word in each) for each in shared]
    chosen, room = [], budget
    for index in sorted(range(len(facts)), key=lambda index: (-weights[index], index)):
        if item_bytes(facts[index]) <= room:
            chosen.append(index)
            room -= item_bytes(facts[index])
    told = [facts[index] for index in sorted(chosen)]
    assert list(choose_facts(facts, terms, budget_bytes=budget)) == told
