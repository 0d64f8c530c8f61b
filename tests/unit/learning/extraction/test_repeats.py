"""Repeated records in one answer become one draft, and the number of drafts has a limit."""

from __future__ import annotations

import math
import time

import attrs

from kiro_learn.learning.extraction.unheld import MOST_DRAFTS, distinct
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import ObservationType, Origin


def draft(title: str = "The build uses a cache", *events: int, facts: tuple[str, ...] = ()) -> RecordDraft:
    return RecordDraft(
        title=title,
        summary="It is kept between runs.",
        observation_type=ObservationType.DISCOVERY,
        source_event_ids=tuple(EventId(f"{number:026}") for number in events or (1,)),
        cites=bool(events),
        facts=facts,
    )


def test_the_same_again_is_one_with_the_events_and_facts_of_all() -> None:
    found = distinct(
        [draft("a", 1, facts=("x",)), draft("b", 5), draft("A", 2, facts=("y", "x")), draft("**a**", 1)], most=math.inf
    )
    assert found.drafts == (draft("a", 1, 2, facts=("x", "y")), draft("b", 5))
    assert (found.repeated_count, found.dropped_count) == (2, 0)


def test_what_differs_by_a_number_or_in_whose_words_it_is_stays_two() -> None:
    said = [draft("port 80"), draft("port 81"), attrs.evolve(draft("port 80"), origin=Origin.USER)]
    assert distinct(said, most=math.inf).drafts == tuple(said)


def test_facts_that_contradict_each_other_keep_two_apart() -> None:
    said = [draft(facts=("it took 3 s",)), draft(facts=("it took 4 s",)), draft(facts=("it took 3 s",))]
    assert distinct(said, most=math.inf).drafts == tuple(said[:2])


def test_a_citation_counts_more_than_none() -> None:
    (found,) = distinct([draft("a"), draft("a", 7)], most=math.inf).drafts
    assert (found.source_event_ids, found.cites) == ((EventId(f"{7:026}"),), True)


def test_the_first_are_kept_and_the_rest_counted() -> None:
    said = [draft(f"topic {number}") for number in range(100)]
    found = distinct([*said, said[3]], most=MOST_DRAFTS)
    assert (found.drafts, found.dropped_count, found.repeated_count) == (tuple(said[:64]), 36, 1)


def test_contradicting_ones_are_compared_once_each() -> None:
    facts = [tuple(f"fact {number} is number {other}" for other in range(50)) for number in range(300)]
    began = time.process_time()
    found = distinct([draft(facts=each) for each in facts], most=MOST_DRAFTS)
    assert len(found.drafts) <= MOST_DRAFTS
    assert time.process_time() - began < 10, "comparing all of them with each other takes 20 times as long"
