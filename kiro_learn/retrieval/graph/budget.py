"""The worth of the things that were found, and the lines to tell within a number of tokens."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import attrs

# How many tokens the lines may have, and which lines fit into them.
#
# Each category has a share. Tokens that a category does not use go to the best of all other lines. A line is told in
# its shorter form if only that fits. Headings count.

SAFETY_SHARE = 0.05
LEAST_TOKENS = 3
"""The fewest tokens of a line. With fewer left, the search for lines ends."""
LIKENESS = 0.8
"""The share of common words (Jaccard) from which on one of two lines says nothing new."""


class Category(enum.StrEnum):
    """Why a line is told, in the order in which the shares are filled."""

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
    """The parts of a model's window, in tokens."""

    total: int = 128_000
    system: int = 2_000
    history: int = 0
    """The conversation so far, including the message."""
    reserve: int = 8_000
    """The room kept for the answer."""
    told: int = 0
    """The blocks that this memory was asked for before."""


def token_budget(slots: TokenSlots) -> int:
    """The tokens left for memories, preferences included. 5 % of the window stays free."""
    used = slots.system + slots.history + slots.reserve + slots.told
    return max(0, int(slots.total - used - SAFETY_SHARE * slots.total))


@attrs.frozen(kw_only=True)
class Line:
    """A line that may be told."""

    item_id: str
    category: Category
    section: str
    text: str
    """The line in the form in which it is told."""
    short: str = ""
    """A shorter form of the line; empty: there is none."""
    says: str = ""
    """The stored text in the line, without age, key or confidence; empty: the whole text."""
    score: float = 0.0


def fitted(lines: Sequence[Line], *, budget: int, count: Callable[[str], int]) -> list[Line]:
    """The lines, best first, that fit into ``budget`` tokens, in the same order; some in their shorter form.

    Args:
      count: the tokens of a text. A line costs its own tokens and those of a line break. The first line of a section
      also costs those of its heading.
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
        """The form of the line that fits into the room left and into ``most``; None if none does."""
        for text in (line.text, line.short):
            if text and self._cost(line.section, text) <= min(self.left, most):
                return attrs.evolve(line, text=text)
        return None

    def take(self, line: Line) -> int:
        """Use the room for a line, and return its cost."""
        cost = self._cost(line.section, line.text)
        self._sections.add(line.section)
        self.left -= cost
        return cost

    def _cost(self, section: str, text: str) -> int:
        heading = 0 if section in self._sections else self._count(f"\n\n{section}\n")
        return heading + self._count(text) + self._count("\n")


_WORD = re.compile(r"\w+")


def without_likenesses(lines: Iterable[Line]) -> list[Line]:
    """``lines`` without memories that say nearly the same as an earlier line of any section.

    Facts stay: "uses C" and "uses C++" differ in one sign, and no two facts are the same. Lines that differ in a number
    say different things: "the port of the server is 8080".
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
    """Whether one of ``seen`` is like ``words``. ``holding``: for each word, the lines of ``seen`` that have it."""
    # A line that is alike shares most words. So it has one of the rarest few, and only these words are looked up.
    rarest = sorted(words, key=lambda word: (len(holding.get(word, ())), word))[: _looked_up(len(words))]
    near = set[int]().union(*(holding.get(word, ()) for word in rarest))
    return any(_likeness(words, seen[number]) >= LIKENESS for number in near)


def _looked_up(count: int) -> int:
    """How many words of a line must be looked up, so that any line like it has at least one of them."""
    return count - math.ceil(LIKENESS * count) + 1


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    both = one | other
    if any(any(map(str.isdecimal, word)) for word in one ^ other):
        return 0.0
    return len(one & other) / len(both) if both else 1.0


# The worth of a thing that was found: fused ranks, a bonus for things that are near in the graph, and boosts.
#
# There are two profiles. ``LITERAL`` has the numbers of the document that the pipeline is built from. ``RESOLVED``
# bounds the boost for recent things: in the document it is larger than the whole difference between the first hit and
# the twentieth.

FUSED = "fused"
"""The order of the hybrid search, which the document does not have."""
LEAST_COSINE = 0.3
"""The cosine from which on a text is near a query in meaning, between vectors of the bundled model."""
RRF_K = 60
GRAPH_WEIGHT = 0.02
"""The bonus of an entity that the message names. A hit of a search at rank 1 adds 1/61 = 0.016."""
DEPTH_PENALTY = 0.5
WEEK_HOURS = 168.0
LEAST_IMPORTANCE_FACTOR, IMPORTANCE_RANGE = 0.8, 0.4
TOP_IMPORTANCE = 10


@attrs.frozen(kw_only=True)
class Profile:
    """How boosts are computed."""

    recency: float
    """How much the score of a thing of this moment gains, as a share of it."""
    is_bounded: bool
    """True: half freshness gains nothing, and less loses. False: an old thing loses nothing."""
    penalizes_hubs: bool
    """Whether the edges of an entity with many edges count less."""
    ignored: frozenset[str] = frozenset()
    """Strategies whose lists do not count. A thing that only these found is not told."""
    with_importance: bool = True
    with_confidence: bool = True


LITERAL = Profile(recency=1.0, is_bounded=False, penalizes_hubs=False, ignored=frozenset({FUSED}))
RESOLVED = Profile(recency=0.3, is_bounded=True, penalizes_hubs=True)
PROFILES = {"literal": LITERAL, "resolved": RESOLVED}


@attrs.frozen(kw_only=True)
class Found:
    """One thing that at least one strategy found."""

    item_id: str
    ranks: Mapping[str, int] = attrs.field(factory=dict)
    """The rank in the list of each strategy, from 1."""
    depth: int | None = None
    """The distance in edges from an entity that the message names; None: no walk reached the thing."""
    degree: int = 0
    """The number of edges of the entity from which a walk reached the thing."""
    happened_at: datetime | None = None
    importance: int | None = None
    """1 to 10."""
    confidence: float | None = None
    """0 to 1; None: it has none."""


@attrs.frozen
class Scored:
    """A thing that was found, its worth, and the reasons."""

    found: Found
    score: float
    parts: Mapping[str, float]
    """The part of each strategy, then the factor of each boost."""
    is_found: bool = True
    """Whether a strategy that counts found it."""


def ranked(found: Iterable[Found], profile: Profile, *, now: datetime, ignores_recency: bool = False) -> list[Scored]:
    """The found things, best first. Ties go to the surer, then to the newer, then to the lower id."""
    scored = (score(each, profile, now=now, ignores_recency=ignores_recency) for each in found)
    return sorted((each for each in scored if each.is_found), key=_order)


def _order(scored: Scored) -> tuple[float, float, float, str]:
    found = scored.found
    newest = 0.0 if found.happened_at is None else -found.happened_at.timestamp()
    sure = 0.0 if found.confidence is None else found.confidence
    return (-scored.score, -sure, newest, found.item_id)


def score(found: Found, profile: Profile, *, now: datetime, ignores_recency: bool = False) -> Scored:
    """The sum of the parts of all strategies, times the boosts."""
    counted = found.ranks.keys() - profile.ignored
    parts = {strategy: 1 / (RRF_K + rank) for strategy, rank in found.ranks.items() if strategy in counted}
    if found.depth is not None:
        near = GRAPH_WEIGHT / (1 + DEPTH_PENALTY * found.depth)
        if profile.penalizes_hubs and found.depth:
            near /= math.log2(2 + found.degree)
        parts["graph"] = near
    total = math.fsum(parts.values())
    factors: dict[str, float] = {}
    if found.happened_at is not None and not ignores_recency:
        factors["recency"] = recency_factor(profile, now, found.happened_at)
    if found.importance is not None and profile.with_importance:
        factors["importance"] = LEAST_IMPORTANCE_FACTOR + IMPORTANCE_RANGE * found.importance / TOP_IMPORTANCE
    if found.confidence is not None and profile.with_confidence:
        factors["confidence"] = found.confidence
    return Scored(found, total * math.prod(factors.values()), {**parts, **factors}, is_found=bool(parts))


def recency_factor(profile: Profile, now: datetime, at: datetime) -> float:
    """The recency boost for ``at``. Freshness falls from 1 to 0 within a week, in a straight line."""
    hours = (now - at).total_seconds() / 3600
    freshness = min(1.0, max(0.0, 1 - hours / WEEK_HOURS))
    return 1 + profile.recency * (freshness - 0.5 if profile.is_bounded else freshness)


def effective_confidence(
    confidence: float, *, half_life_days: float | None, confirmed_at: datetime, now: datetime
) -> float:
    """The confidence left after so long without confirmation: half of it after each half-life."""
    if half_life_days is None:
        return confidence
    days = max(0.0, (now - confirmed_at).total_seconds() / 86_400)
    return confidence * math.pow(0.5, days / half_life_days)
