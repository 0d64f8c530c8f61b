"""What something that was found is worth: ranks fused, a bonus for what is near in the graph, and boosts.

Two profiles. ``LITERAL`` has the numbers of the document that the pipeline is built from. ``RESOLVED`` bounds the boost
for recent things, which is larger there than the whole difference between the first hit and the twentieth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime

import attrs

FUSED = "fused"
"""The order of the hybrid search, which the document does not know."""
LEAST_COSINE = 0.3
"""Of what counts as near a query in meaning, between vectors of the bundled model."""
RRF_K = 60
GRAPH_WEIGHT = 0.02
"""Of what the message names itself; a rank-1 hit of a search is worth 1/61 = 0.016."""
DEPTH_PENALTY = 0.5
WEEK_HOURS = 168.0
LEAST_IMPORTANCE_FACTOR, IMPORTANCE_RANGE = 0.8, 0.4
TOP_IMPORTANCE = 10


@attrs.frozen(kw_only=True)
class Profile:
    """How boosts are computed."""

    recency: float
    """How much a thing of now gains, as a share of its score."""
    is_bounded: bool
    """What is half as fresh gains nothing, and what is old loses; otherwise what is old loses nothing."""
    penalizes_hubs: bool
    """An entity with many edges says less about each."""
    ignored: frozenset[str] = frozenset()
    """Strategies whose lists do not count; what only they found is not told."""
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
    """By strategy, from 1."""
    depth: int | None = None
    """How far from what the message names; None: not reached by a walk."""
    degree: int = 0
    """Edges of the entity that it was reached from."""
    happened_at: datetime | None = None
    importance: int | None = None
    """1 to 10."""
    confidence: float | None = None
    """0 to 1; None: it has none."""


@attrs.frozen
class Scored:
    """What it is worth, and why."""

    found: Found
    score: float
    parts: Mapping[str, float]
    """What each strategy adds, then the factor of each boost."""
    is_found: bool = True
    """By a strategy that counts."""


def ranked(found: Iterable[Found], profile: Profile, *, now: datetime, ignores_recency: bool = False) -> list[Scored]:
    """Best first; ties go to the surer, then to the newer, then to the lower id."""
    scored = (score(each, profile, now=now, ignores_recency=ignores_recency) for each in found)
    return sorted((each for each in scored if each.is_found), key=_order)


def _order(scored: Scored) -> tuple[float, float, float, str]:
    found = scored.found
    newest = 0.0 if found.happened_at is None else -found.happened_at.timestamp()
    sure = 0.0 if found.confidence is None else found.confidence
    return (-scored.score, -sure, newest, found.item_id)


def score(found: Found, profile: Profile, *, now: datetime, ignores_recency: bool = False) -> Scored:
    """The sum of what each strategy adds, times the boosts."""
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
    """Of something that happened at ``at``: freshness falls from 1 to 0 in a week, in a straight line."""
    hours = (now - at).total_seconds() / 3600
    freshness = min(1.0, max(0.0, 1 - hours / WEEK_HOURS))
    return 1 + profile.recency * (freshness - 0.5 if profile.is_bounded else freshness)


def effective_confidence(
    confidence: float, *, half_life_days: float | None, confirmed_at: datetime, now: datetime
) -> float:
    """What is left of a confidence when it was not confirmed for so long: half after each half-life."""
    if half_life_days is None:
        return confidence
    days = max(0.0, (now - confirmed_at).total_seconds() / 86_400)
    return confidence * math.pow(0.5, days / half_life_days)
