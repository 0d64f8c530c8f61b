"""Merges near-identical drafts of one answer and limits their number."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import attrs

from kiro_learn.learning.reconciliation.near_identical import agree, essence
from kiro_learn.learning.reconciliation.plan import all_of
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_CONCEPTS, MAX_FACTS, MAX_SOURCE_EVENTS

MOST_DRAFTS = 64
"""Most drafts of one answer of a model; an answer to a full prompt seldom has more than twenty."""


@attrs.frozen
class Distinct:
    """The drafts without repeats of each other, in order."""

    drafts: tuple[RecordDraft, ...]
    repeated_count: int
    """Drafts that were merged into a near-identical one."""
    dropped_count: int
    """Drafts that were dropped because there were too many."""


def distinct(drafts: Iterable[RecordDraft], *, most: float) -> Distinct:
    """At most ``most`` of ``drafts``; near-identical ones are merged, with the events, facts and concepts of all."""
    kept: list[RecordDraft] = []
    places: dict[Hashable, int] = {}
    repeated_count = dropped_count = 0
    for draft in drafts:
        said = essence(draft)
        # Compared only with the last similar one: comparing all pairs would take quadratic time.
        place = places.get((said, frozenset(draft.facts)), places.get(said))
        if place is not None and agree(draft.facts, kept[place].facts):
            kept[place] = _merged(kept[place], draft)
            repeated_count += 1
        elif len(kept) < most:
            places[said] = places[said, frozenset(draft.facts)] = len(kept)
            kept.append(draft)
        else:
            dropped_count += 1
    return Distinct(tuple(kept), repeated_count, dropped_count)


def _merged(first: RecordDraft, again: RecordDraft) -> RecordDraft:
    """Both as one draft, in the words of ``first``."""
    cited = [draft.source_event_ids for draft in (first, again) if draft.cites] or [first.source_event_ids]
    importances = [draft.importance for draft in (first, again) if draft.importance is not None]
    return attrs.evolve(
        first,
        facts=all_of((first.facts, again.facts), MAX_FACTS),
        concepts=all_of((first.concepts, again.concepts), MAX_CONCEPTS),
        source_event_ids=all_of(cited, MAX_SOURCE_EVENTS),
        cites=first.cites or again.cites,
        knowledge_type=first.knowledge_type or again.knowledge_type,
        importance=max(importances, default=None),
    )
