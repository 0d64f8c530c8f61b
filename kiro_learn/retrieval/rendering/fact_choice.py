"""Which of a record's facts to show, when not all of them fit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kiro_learn.retrieval.rendering.word_runs import word_runs

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")


def choose_facts(facts: Sequence[str], query_terms: Iterable[str], *, budget_bytes: int) -> tuple[str, ...]:
    """As many of ``facts`` as fit in ``budget_bytes``, each as a list item of its own, in the order given.

    Those that share the query's rarest words are taken first, rare meaning in few of these facts; then the earlier
    ones. A fact that does not fit makes room for a smaller one.
    """
    sizes = [item_bytes(fact) for fact in facts]
    if sum(sizes) <= budget_bytes:
        return tuple(facts)
    wanted = words(" ".join(query_terms))
    shared = [_shared(fact, wanted) for fact in facts]
    fact_counts = Counter(word for of_one_fact in shared for word in of_one_fact)
    weights = [math.fsum(1.0 / fact_counts[word] for word in of_one_fact) for of_one_fact in shared]
    kept = []
    for index in sorted(range(len(facts)), key=lambda index: -weights[index]):  # stable: equal ones stay in order
        if sizes[index] <= budget_bytes:
            kept.append(index)
            budget_bytes -= sizes[index]
    return tuple(facts[index] for index in sorted(kept))


def item_bytes(fact: str) -> int:
    """What ``fact`` takes up as an item of a list."""
    return len(f"- {fact}\n".encode())


def _shared(fact: str, wanted: set[str]) -> set[str]:
    """The words of ``fact`` that are ``wanted``; most facts hold none of them, not even inside a longer one."""
    folded = fact.casefold()
    return words(fact) & wanted if any(word in folded for word in wanted) else set()


def words(text: str) -> set[str]:
    """The words of ``text``, case-folded; an identifier counts whole and in its parts."""
    found = set()
    for word in word_runs(text):
        folded = word.casefold()
        found.add(folded)
        if not (folded == word and word.isascii() and word.isalpha()):  # else it is its only part, as most words are
            found.update(part.casefold() for part in _PART.findall(word))
    return found
