"""From what was said of a thing to the items that the graph keeps of it: facts, preferences or procedures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import attrs

from kiro_learn.learning.graph.timelines import Claim, Rules, Span, ValueKey, spans_of
from kiro_learn.learning.graph.working_graph import WorkingGraph
from kiro_learn.model.draft import Source
from kiro_learn.model.graph import (
    Evidence,
    Fact,
    GraphItemId,
    GraphKind,
    Preference,
    Procedure,
    Says,
    SourceType,
    Validity,
)
from kiro_learn.model.ids import EventId

I = TypeVar("I", Fact, Procedure, Preference)  # noqa: E741  # an item

NO_EVENT = EventId("")
"""In the evidence of an item that was put without any, as by hand; such evidence is not stored."""
UNKNOWN_ITEM = GraphItemId("")


def claim(key: ValueKey, value: str, source: Source, **said: Any) -> Claim:
    """What an event says, before it is known of which item."""
    evidence = Evidence(UNKNOWN_ITEM, source.event_id, source.said_at)
    return Claim(key=key, value=value, evidence=attrs.evolve(evidence, **said))


def stored_claims(graph: WorkingGraph, item: Fact | Procedure | Preference, key: ValueKey, value: str) -> list[Claim]:
    """What was said of an item until now."""
    evidence = graph.evidence_of(item.item_id) or _as_evidence(item)
    return [Claim(key=key, value=value, evidence=each) for each in evidence]


def spelled(speaking: Sequence[Claim]) -> str:
    """A value as the newest correction writes it; without one, as it was said first."""
    corrected = [each for each in speaking if each.evidence.source_type is SourceType.CORRECTED]
    return corrected[-1].value if corrected else speaking[0].value


def _as_evidence(item: Fact | Procedure | Preference) -> list[Evidence]:
    """What would have to be said for an item that was put without evidence to be as it is."""
    weight = item.strength if isinstance(item, Preference) else item.confidence
    validity = Validity(observed_at=item.created_at) if isinstance(item, Procedure) else item.validity
    said = Evidence(item.item_id, NO_EVENT, validity.observed_at, weight, source_type=item.source_type)
    claims = [attrs.evolve(said, valid_from=validity.valid_from)]
    if validity.retired_at is not None:
        claims.append(attrs.evolve(said, observed_at=validity.retired_at, says=Says.NEVER, place=1))
    elif validity.valid_until is not None and item.superseded_by is None:
        end = max(validity.valid_until, validity.observed_at)
        claims.append(attrs.evolve(said, observed_at=end, says=Says.ENDED, place=1, valid_until=validity.valid_until))
    return claims


def _without_repeats(claims: Sequence[Claim]) -> list[Claim]:
    """One for each event and value: the last that it says."""
    found: dict[tuple[str, ValueKey], Claim] = {}
    for each in claims:
        event_id = each.evidence.event_id
        found[event_id or f"{each.evidence.item_id} {each.evidence.place}", each.key] = each
    return list(found.values())


@attrs.frozen(eq=False, kw_only=True)
class Row(Generic[I]):
    """One of the items of a thing, before it is made."""

    item_id: GraphItemId
    stored: I | None
    """The item whose place it takes; None: it is new."""
    span: Span
    first: Span
    """The first of the same thing."""
    number: int
    """Which of them it is, from 0."""
    follower: GraphItemId | None
    """The item that took its place."""


def settle(  # what is said of a thing, and how its items are made
    graph: WorkingGraph,
    kind: GraphKind,
    stored: Sequence[tuple[I, ValueKey]],
    claims: Sequence[Claim],
    make: Callable[[Row[I]], I],
    *,
    rules: Rules,
) -> list[tuple[I, Span]]:
    """Put the items that ``claims`` come to in the place of those that are stored.

    Args:
      stored: what there is of this thing, with what is compared of it.
      claims: all that was ever said of it, with what is new.
      make: the item for a row.
    """
    spans = spans_of(_without_repeats(claims), rules)
    free: dict[ValueKey, list[I]] = {}
    for item, key in stored:
        free.setdefault(key, []).append(item)
    known: list[I | None] = [taken.pop(0) if (taken := free.get(span.key)) else None for span in spans]
    ids = [graph.new_id(kind) if item is None else item.item_id for item in known]
    for unused in (item for rest in free.values() for item in rest):
        graph.remove(unused.item_id)
    settled: list[tuple[I, Span]] = []
    for index, (before, item_id, span) in enumerate(zip(known, ids, spans, strict=True)):
        follower = None if span.followed_by is None else ids[spans.index(span.followed_by)]
        row = Row(item_id=item_id, stored=before, span=span, first=spans[0], number=index, follower=follower)
        made = make(row)
        graph.put(made)
        graph.set_evidence(item_id, [each.evidence for each in span.claims if each.evidence.event_id != NO_EVENT])
        settled.append((made, span))
    return settled
