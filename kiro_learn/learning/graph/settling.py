"""Derives from statements about a thing which of them hold, and from when to when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

import attrs

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
"""The event id in the evidence of an item that was stored without any, as by hand. Such evidence is not stored."""
UNKNOWN_ITEM = GraphItemId("")


def claim(key: ValueKey, value: str, source: Source, **said: Any) -> Claim:
    """A claim of an event, before it is known which item it speaks for."""
    evidence = Evidence(UNKNOWN_ITEM, source.event_id, source.said_at)
    return Claim(key=key, value=value, evidence=attrs.evolve(evidence, **said))


def stored_claims(graph: WorkingGraph, item: Fact | Procedure | Preference, key: ValueKey, value: str) -> list[Claim]:
    """The claims about an item until now."""
    evidence = graph.evidence_of(item.item_id) or _as_evidence(item)
    return [Claim(key=key, value=value, evidence=each) for each in evidence]


def spelled(speaking: Sequence[Claim]) -> str:
    """A value as the newest correction writes it; without a correction, as it was first said."""
    corrected = [each for each in speaking if each.evidence.source_type is SourceType.CORRECTED]
    return corrected[-1].value if corrected else speaking[0].value


def _as_evidence(item: Fact | Procedure | Preference) -> list[Evidence]:
    """The evidence that would make an item what it is. It stands in for items that were stored without any."""
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
    """The last claim of each event about each value."""
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
    """The item that this one replaces; None: it is new."""
    span: Span
    first: Span
    """The first span of the same thing."""
    number: int
    """The place of the span among those of the thing, from 0."""
    follower: GraphItemId | None
    """The item that took its place."""


def settle(  # the claims about a thing, and how its items are made
    graph: WorkingGraph,
    kind: GraphKind,
    stored: Sequence[tuple[I, ValueKey]],
    claims: Sequence[Claim],
    make: Callable[[Row[I]], I],
    *,
    rules: Rules,
) -> list[tuple[I, Span]]:
    """Replace the stored items of a thing by those that ``claims`` come to.

    Args:
      stored: the items of this thing, each with the key by which it is compared.
      claims: all claims about it, old and new.
      make: makes the item for a row.
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


# Which of several statements about one thing hold, and from when to when, in whatever order they arrived.
#
# Whenever a statement is added, all statements about the thing are read again, in the order in which they were made. So
# a statement that arrives late has the effect that it would have had in time.

SUPPORT_OF_A_WEAKER_SOURCE = 3
"""How many events must speak for a value from a weaker source before it ends a value from a better one."""

ValueKey: TypeAlias = tuple[str, ...]
"""The form in which values are compared: two statements with one key say the same."""


@attrs.frozen(kw_only=True)
class Claim:
    """What one event says of one value."""

    key: ValueKey
    value: str
    """The value in the words of the event."""
    evidence: Evidence
    """The item id in it is not read: settling finds out which item the claim speaks for."""

    @property
    def said_at(self) -> datetime:
        """The time of the event."""
        return self.evidence.observed_at


@attrs.define(eq=False)
class Span:
    """A value, and from when to when it held."""

    key: ValueKey
    claims: list[Claim] = attrs.Factory(list)
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    retired_at: datetime | None = None
    is_candidate: bool = False
    followed_by: Span | None = None
    """The span that took its place."""
    supporters: list[Claim] = attrs.Factory(list)
    """For a candidate: the claims for it since a better source last spoke against it."""

    @property
    def is_open(self) -> bool:
        """Whether the value neither ended nor turned out to be false."""
        return self.valid_until is None and self.retired_at is None

    @property
    def holds(self) -> bool:
        """Whether the value has no end and is no candidate."""
        return self.is_open and not self.is_candidate

    @property
    def affirmed(self) -> list[Claim]:
        """The claims that say that it holds or held, in the order in which they were said."""
        return [claim for claim in self.claims if claim.evidence.says is Says.HOLDS]

    @property
    def observed_at(self) -> datetime:
        """When it was first said."""
        return min(claim.said_at for claim in self.affirmed or self.claims)

    @property
    def begin(self) -> datetime:
        """From when it held, as far as is known."""
        return self.valid_from or self.observed_at

    @property
    def validity(self) -> Validity:
        """The times in the form that items keep."""
        return Validity(
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            observed_at=self.observed_at,
            retired_at=self.retired_at,
        )

    @property
    def trust(self) -> int:
        """The rank of the best source that says that the value holds; 0: none does."""
        return max((_trust(claim) for claim in self.affirmed), default=0)


@attrs.frozen(kw_only=True)
class Rules:
    """How the values of one thing behave towards each other."""

    conflict: Callable[[ValueKey, ValueKey], bool]
    """Whether two different values cannot hold at the same time."""
    ends_all: bool = False
    """A stated end ends every value of the thing, not only its own."""
    weighs_sources: bool = False
    """True: a value from a weaker source stays a candidate. False: the newest statement holds, whatever its source."""


def _trust(claim: Claim) -> int:
    """The rank of the source, at most that of a person's word: their newer word ends even a correction."""
    return min(claim.evidence.source_type.rank, SourceType.STATED.rank)


def spans_of(claims: Iterable[Claim], rules: Rules) -> list[Span]:
    """All values of one thing with their beginnings and ends, in the order in which each was first said."""
    walk = _Walk(rules)
    for claim in sorted(claims, key=_order):
        walk.add(claim)
    return walk.spans


def _order(claim: Claim) -> tuple[datetime, str, int, ValueKey]:
    return (claim.said_at, claim.evidence.event_id, claim.evidence.place, claim.key)


class _Walk:
    def __init__(self, rules: Rules) -> None:
        self.spans: list[Span] = []
        self._rules = rules

    def add(self, claim: Claim) -> None:
        if claim.evidence.says is Says.NEVER:
            self._retire(claim)
        elif claim.evidence.says is Says.ENDED:
            self._end(claim)
        else:
            self._hold(claim)

    def _retire(self, claim: Claim) -> None:
        known = [span for span in self.spans if span.key == claim.key and span.retired_at is None]
        for span in known:
            span.claims.append(claim)
            span.retired_at = claim.said_at
            for before in self.spans:
                if before.followed_by is span:  # a value that it ended gets its end and its follower
                    before.valid_until, before.followed_by = span.valid_until, span.followed_by
            span.followed_by = None
        if not known:
            self.spans.append(Span(claim.key, [claim], retired_at=claim.said_at))

    def _end(self, claim: Claim) -> None:
        at = claim.evidence.valid_until or claim.said_at
        meant = [span for span in self.spans if self._rules.ends_all or span.key == claim.key]
        open_ones = [span for span in meant if span.is_open]
        for span in open_ones:
            span.claims.append(claim)
            span.valid_until = max(at, span.valid_from or at)
        if open_ones:
            self._let_a_candidate_follow(claim, at)
            return
        ended = [span for span in meant if span.retired_at is None]
        if ended:
            ended[-1].claims.append(claim)
            return
        holders = list(self._conflicting(claim.key, holding=True))
        self.spans.append(Span(claim.key, [claim], valid_until=min([at, *(span.begin for span in holders)])))

    def _let_a_candidate_follow(self, claim: Claim, at: datetime) -> None:
        waiting = list(self._conflicting(claim.key, holding=False))
        if waiting and not any(self._conflicting(claim.key, holding=True)):
            waiting[-1].is_candidate, waiting[-1].valid_from = False, at

    def _hold(self, claim: Claim) -> None:
        same = next((span for span in self.spans if span.key == claim.key and span.holds), None)
        if same is not None:
            same.claims.append(claim)
            same.valid_from = claim.evidence.valid_from or same.valid_from
            for rival in self._conflicting(claim.key, holding=False):
                if _trust(claim) > rival.trust:
                    rival.supporters.clear()
            return
        holders = list(self._conflicting(claim.key, holding=True))
        span = next((each for each in self.spans if each.key == claim.key and each.is_open), None)
        if span is None:
            had_others = any(self._is_before(each, claim) for each in self.spans)
            span = Span(claim.key)
            self.spans.append(span)
        else:
            had_others = True
        span.claims.append(claim)
        span.supporters.append(claim)
        is_weaker = self._rules.weighs_sources and any(holder.trust > _trust(claim) for holder in holders)
        if is_weaker and len(span.supporters) < SUPPORT_OF_A_WEAKER_SOURCE:
            span.is_candidate = True
            return
        first = span.supporters[0]
        start = first.evidence.valid_from or first.said_at
        span.is_candidate = False
        span.valid_from = start if had_others else claim.evidence.valid_from or self._corrected_begin(claim)
        for other in (*holders, *(each for each in self._conflicting(claim.key, holding=False) if each is not span)):
            _follow(other, span, start, claim.said_at)

    def _corrected_begin(self, claim: Claim) -> datetime | None:
        """Since when a value was believed that the same event retires: the true value held from then on."""
        by_it = (
            span.begin
            for span in self.spans
            for said in span.claims
            if said.evidence.says is Says.NEVER and said.evidence.event_id == claim.evidence.event_id and span.affirmed
        )
        return min(by_it, default=None)

    def _is_before(self, span: Span, claim: Claim) -> bool:
        is_near = span.key == claim.key or self._rules.conflict(span.key, claim.key)
        return is_near and span.retired_at is None

    def _conflicting(self, key: ValueKey, *, holding: bool) -> Iterator[Span]:
        """The open spans whose values cannot hold together with ``key``: those that hold, or the candidates."""
        for span in self.spans:
            is_asked = span.is_open and span.is_candidate is not holding and span.key != key
            if is_asked and self._rules.conflict(span.key, key):
                yield span


def _follow(span: Span, by: Span, start: datetime, said_at: datetime) -> None:
    """End ``span`` where ``by`` begins. A span that began later was an error all along."""
    span.followed_by = by
    if span.valid_from is not None and span.valid_from > start:
        span.retired_at = said_at
    else:
        span.valid_until = start
