"""The predicates that the graph knows. What has no row here is not learned: one that says nothing makes noise."""

from __future__ import annotations

import attrs

TECHNICAL_DAYS = 120.0
PREFERENCE_DAYS = 365.0
RELATIONSHIP_DAYS = 180.0
STATUS_DAYS = 30.0


@attrs.frozen(kw_only=True)
class Predicate:
    """How facts with one predicate behave."""

    name: str
    is_single: bool = False
    """One object at a time: another one ends it. False: many hold beside each other."""
    half_life_days: float | None = TECHNICAL_DAYS
    """After how long without confirmation its confidence is halved; None: never."""
    opposite: str | None = None
    """The predicate that cannot hold of the same object at the same time."""


_ALL = (
    Predicate(name="uses"),
    Predicate(name="written_in"),
    Predicate(name="runs_on"),
    Predicate(name="deployed_on"),
    Predicate(name="depends_on"),
    Predicate(name="tested_with"),
    Predicate(name="built_with"),
    Predicate(name="formatted_with"),
    Predicate(name="listens_on_port", is_single=True),
    Predicate(name="has_version", is_single=True),
    Predicate(name="requires_version", is_single=True),
    Predicate(name="default_branch", is_single=True),
    Predicate(name="stored_in", is_single=True),
    Predicate(name="licensed_under", is_single=True, half_life_days=None),
    Predicate(name="scheduled_for", is_single=True, half_life_days=STATUS_DAYS),
    Predicate(name="has_status", is_single=True, half_life_days=STATUS_DAYS),
    Predicate(name="lives_in", is_single=True, half_life_days=None),
    Predicate(name="works_at", is_single=True, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="has_name", is_single=True, half_life_days=None),
    Predicate(name="works_as", is_single=True, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="works_on", half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="works_with", half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="created", half_life_days=None),
    Predicate(name="maintains", half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="owns", half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="responsible_for", half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="likes", half_life_days=PREFERENCE_DAYS, opposite="dislikes"),
    Predicate(name="dislikes", half_life_days=PREFERENCE_DAYS, opposite="likes"),
    Predicate(name="prefers", half_life_days=PREFERENCE_DAYS, opposite="dislikes"),
    Predicate(name="avoids", half_life_days=PREFERENCE_DAYS, opposite="uses"),
)
PREDICATES = {predicate.name: predicate for predicate in _ALL}
"""By name."""
