"""What of several statements about one thing holds, and from when to when, whatever order they arrived in.

Where only one value may hold at a time (a single predicate of an entity, or a preference), its statements are a chain
by the time they are about. Each ends when the next begins, unless the next one is from a weaker source: that one is
a candidate, until three events speak for it. The whole chain is computed anew at every change, so that a
statement which arrives late falls into its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.graph import Fact, GraphItemId

SUPPORT_OF_A_WEAKER_SOURCE = 3
"""Events that must speak for a value from a weaker source before it ends a better one."""


def start_of(fact: Fact) -> datetime:
    """From when it held, as far as is known."""
    return fact.validity.valid_from or fact.validity.observed_at


def chained(facts: Sequence[Fact], support: Mapping[GraphItemId, int]) -> list[Fact]:
    """The facts of one entity and one single predicate, with the ends and beginnings that follow from each other.

    Args:
      facts: those that are not retired. An end without a successor is one that was stated, and stays.
      support: how many events speak for each; one where nothing is said.
    """
    ordered = sorted(facts, key=lambda fact: (start_of(fact), fact.validity.observed_at, fact.item_id))
    open_ended = [_with_stated_end(fact) for fact in ordered]
    done: list[Fact] = []
    for fact in open_ended:
        holding = next((each for each in reversed(done) if not each.is_candidate), None)
        if holding is None:
            done.append(attrs.evolve(fact, is_candidate=False))
            continue
        if _is_weaker(fact, holding, support):
            done.append(attrs.evolve(fact, is_candidate=True))
            continue
        begun = attrs.evolve(fact.validity, valid_from=start_of(fact))
        done[done.index(holding)] = _ended(holding, by=fact)
        done.append(attrs.evolve(fact, is_candidate=False, validity=begun))
    return done


def _with_stated_end(fact: Fact) -> Fact:
    """As if nothing had followed it."""
    if fact.superseded_by is None:
        return fact
    return attrs.evolve(fact, superseded_by=None, validity=attrs.evolve(fact.validity, valid_until=None))


def _is_weaker(fact: Fact, holding: Fact, support: Mapping[GraphItemId, int]) -> bool:
    end = holding.validity.valid_until
    if end is not None and end <= start_of(fact):
        return False
    is_supported = support.get(fact.item_id, 1) >= SUPPORT_OF_A_WEAKER_SOURCE
    return fact.source_type.rank < holding.source_type.rank and not is_supported


def _ended(fact: Fact, *, by: Fact) -> Fact:
    end, start = fact.validity.valid_until, start_of(by)
    if end is not None and end <= start:
        return fact
    return attrs.evolve(fact, superseded_by=by.item_id, validity=attrs.evolve(fact.validity, valid_until=start))


def changed(before: Mapping[GraphItemId, Fact], after: Iterable[Fact]) -> list[Fact]:
    """Those that are not as they were."""
    return [fact for fact in after if before.get(fact.item_id) != fact]
