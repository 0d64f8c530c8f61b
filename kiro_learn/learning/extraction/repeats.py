"""A learner that says the same again and again in one answer has said it once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import attrs

from kiro_learn.learning.reconciliation.near_identical import agree, essence
from kiro_learn.learning.reconciliation.plan import all_of
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_CONCEPTS, MAX_FACTS, MAX_SOURCE_EVENTS

MOST_DRAFTS = 64
"""Of one answer of a model. One that is asked about a prompt's worth of events has seldom more than twenty."""


@attrs.frozen
class Distinct:
    """The drafts without repeats of each other, in order."""

    drafts: tuple[RecordDraft, ...]
    repeated_count: int
    """Drafts that said what another one says, and are one with it."""
    dropped_count: int
    """Drafts that came after there were as many as there may be."""


def distinct(drafts: Iterable[RecordDraft], *, most: float) -> Distinct:
    """At most ``most`` of ``drafts``; near-identical ones are one, with the events, facts and concepts of all."""
    kept: list[RecordDraft] = []
    places: dict[Hashable, int] = {}
    repeated_count = dropped_count = 0
    for draft in drafts:
        said = essence(draft)
        # Compared with the last one only that said so, since all of them would take the square of their number.
        place = places.get((said, frozenset(draft.facts)), places.get(said))
        if place is not None and agree(draft.facts, kept[place].facts):
            kept[place] = _together(kept[place], draft)
            repeated_count += 1
        elif len(kept) < most:
            places[said] = places[said, frozenset(draft.facts)] = len(kept)
            kept.append(draft)
        else:
            dropped_count += 1
    return Distinct(tuple(kept), repeated_count, dropped_count)


def _together(first: RecordDraft, again: RecordDraft) -> RecordDraft:
    """In the words of ``first``."""
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
