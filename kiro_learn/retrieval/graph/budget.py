"""How many tokens may be told, and what is told in them.

Each category has a share. What it does not use goes to what is worth most of all the rest. A longer form gives way to
a shorter one where only that fits. Headings count.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

SAFETY_SHARE = 0.05
LEAST_TOKENS = 3
"""No line has fewer, so what is left of a budget then is not looked at."""
LIKENESS = 0.8
"""Of words that two lines share, from which one of them says nothing new (Jaccard)."""


class Category(enum.StrEnum):
    """What a line is told for, in the order in which shares are filled."""

    PREFERENCE = "preference"
    NAMED = "named"
    EPISODE = "episode"
    NEAR = "near"
    PROCEDURE = "procedure"


SHARES = {
    Category.PREFERENCE: 0.15,
    Category.NAMED: 0.30,
    Category.EPISODE: 0.30,
    Category.NEAR: 0.15,
    Category.PROCEDURE: 0.10,
}


@attrs.frozen(kw_only=True)
class TokenSlots:
    """What a model's window is planned for."""

    total: int = 128_000
    system: int = 2_000
    history: int = 0
    """Of the conversation as it stands, the message included."""
    reserve: int = 8_000
    """For the answer."""
    told: int = 0
    """By this memory before."""


def token_budget(slots: TokenSlots) -> int:
    """What is left for memories, preferences included, 5 % of the window kept free."""
    used = slots.system + slots.history + slots.reserve + slots.told
    return max(0, int(slots.total - used - SAFETY_SHARE * slots.total))


@attrs.frozen(kw_only=True)
class Line:
    """Something that may be told."""

    item_id: str
    category: Category
    section: str
    text: str
    """As it is told."""
    short: str = ""
    """A shorter form; empty: there is none."""
    says: str = ""
    """What is stored, without the age, the key or the confidence that is told with it; empty: the whole text."""
    score: float = 0.0


def fitted(lines: Sequence[Line], *, budget: int, count: Callable[[str], int]) -> list[Line]:
    """What of ``lines``, best first, is told in ``budget`` tokens, in the same order; some in their shorter form.

    Args:
      count: the tokens of a text. A line costs its own and those of a line break, a section's first line those of its
        heading too.
    """
    room = _Room(budget, count)
    chosen: dict[str, Line] = {}
    for category, share in SHARES.items():
        spent = 0
        for line in lines:
            if line.category is category and (fit := room.fit(line, most=int(budget * share) - spent)):
                chosen[line.item_id] = fit
                spent += room.take(fit)
    for line in lines:
        if room.left < LEAST_TOKENS:
            break
        if line.item_id not in chosen and (fit := room.fit(line, most=budget)):
            chosen[line.item_id] = fit
            room.take(fit)
    return [chosen[line.item_id] for line in lines if line.item_id in chosen]


class _Room:
    def __init__(self, budget: int, count: Callable[[str], int]) -> None:
        self.left = budget
        self._count = count
        self._sections: set[str] = set()

    def fit(self, line: Line, *, most: int) -> Line | None:
        """The form that fits in what is left and in ``most``."""
        for text in (line.text, line.short):
            if text and self._cost(line.section, text) <= min(self.left, most):
                return attrs.evolve(line, text=text)
        return None

    def take(self, line: Line) -> int:
        """Use the room; what it costs."""
        cost = self._cost(line.section, line.text)
        self._sections.add(line.section)
        self.left -= cost
        return cost

    def _cost(self, section: str, text: str) -> int:
        heading = 0 if section in self._sections else self._count(f"\n\n{section}\n")
        return heading + self._count(text) + self._count("\n")


_WORD = re.compile(r"\w+")


def without_likenesses(lines: Iterable[Line]) -> list[Line]:
    """Without the memories that say nearly the same as a line before them, whatever its section.

    Facts stay: "uses C" and "uses C++" differ in one sign, and no two of them are the same. What differs in a number
    says something else: "the port of the server is 8080".
    """
    kept: list[Line] = []
    seen: list[frozenset[str]] = []
    holding: dict[str, set[int]] = {}
    for line in lines:
        words = frozenset(_WORD.findall((line.says or line.text).casefold()))
        if line.category is not Category.EPISODE or not _is_repeat(words, seen, holding):
            for word in words:
                holding.setdefault(word, set()).add(len(kept))
            kept.append(line)
            seen.append(words)
    return kept


def _is_repeat(words: frozenset[str], seen: Sequence[frozenset[str]], holding: Mapping[str, set[int]]) -> bool:
    """Whether one of ``seen`` is like it; ``holding``: by word, which of them have it."""
    # Whatever is alike shares most words, so one of any few that are missing elsewhere: the rarest are looked up.
    rarest = sorted(words, key=lambda word: (len(holding.get(word, ())), word))[: _looked_up(len(words))]
    near = set[int]().union(*(holding.get(word, ()) for word in rarest))
    return any(_likeness(words, seen[number]) >= LIKENESS for number in near)


def _looked_up(count: int) -> int:
    """So many words of a line that another one which is like it must have one of them."""
    return count - math.ceil(LIKENESS * count) + 1


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    both = one | other
    if any(any(map(str.isdecimal, word)) for word in one ^ other):
        return 0.0
    return len(one & other) / len(both) if both else 1.0
