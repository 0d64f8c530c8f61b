"""What of the graph holds now, or held at the time that a message names, and how sure it is by now."""

from __future__ import annotations

from datetime import datetime

from kiro_learn.learning.graph.predicates import PREDICATES, PREFERENCE_DAYS
from kiro_learn.model.graph import Fact, GraphItem, Preference, Procedure
from kiro_learn.retrieval.graph.budget import effective_confidence
from kiro_learn.retrieval.graph.query import GraphQuery
from kiro_learn.retrieval.query.time_ranges import TimeRange


def as_of(query: GraphQuery) -> datetime | None:
    """The time at which what is asked for held; None: now."""
    named = query.time_range
    return named.start if named is not None and named.is_validity else None


def happened(query: GraphQuery) -> TimeRange | None:
    """When what is asked for happened; None: the message names no such time."""
    named = query.time_range
    return None if named is None or named.is_validity else named


def holds(item: GraphItem, at: datetime | None) -> bool:
    """Whether it holds now, or held then. Words find only such items; meaning finds past ones too."""
    if isinstance(item, Fact) and at is not None:
        return item.validity.holds(at) and not item.is_candidate
    return not isinstance(item, Fact | Procedure) or item.is_current


def has_held(fact: Fact) -> bool:
    """What was retired, or is a candidate, never held."""
    return fact.validity.retired_at is None and not fact.is_candidate


def confidence_now(item: GraphItem, now: datetime) -> float | None:
    """What is left of it; None: it has none."""
    if isinstance(item, Fact):
        known = PREDICATES.get(item.predicate)
        days = None if known is None else known.half_life_days
        until = item.validity.valid_until  # what ended is as sure as it was then
        at = now if until is None else min(now, until)
        return effective_confidence(item.confidence, half_life_days=days, confirmed_at=item.last_confirmed_at, now=at)
    return item.confidence if isinstance(item, Procedure) else None


def strength_now(preference: Preference, now: datetime) -> float:
    """What is left of it."""
    return effective_confidence(
        preference.strength,
        half_life_days=PREFERENCE_DAYS,
        confirmed_at=preference.last_confirmed_at,
        now=now,
    )
