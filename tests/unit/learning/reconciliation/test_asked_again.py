"""A long answer that was asked for again is told once, and nothing that only the older one says is lost."""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.reconciliation.near_identical import near_identical
from kiro_learn.model.record import MAX_FACTS, MemoryRecord, Origin
from tests.unit.learning.reconciliation.builders import a_candidate, ids

OPEN = [
    "1 | Offload large file encryption to a web worker | ui | 9d",
    "2 | Fix the flaky tests that reload the page | testing | 6d",
    "3 | Add support for a node of one's own | api | 2d",
    "4 | Split the metadata of each file into objects | crypto | 2d",
    "5 | Extend the tests to wallets and second factors | testing | 2d",
    "6 | Add an updater to the program for the desktop | desktop | 1d",
]


def listing(number: int, lines: list[str], asked: str = "/todos", **fields: object) -> MemoryRecord:
    summary = "\n".join((f"Asked: {asked}", "What is open:", *lines))
    return a_candidate(number, **{"title": "What is open", "summary": summary, **fields}).record  # type: ignore[arg-type]  # whatever fields a test names


def later(lines: list[str]) -> list[str]:
    return [line.replace("9d", "14d").replace("2d", "7d") for line in lines]


def test_a_listing_asked_for_again_is_told_as_it_is_now() -> None:
    first, again = listing(1, OPEN), listing(2, later(OPEN))
    (merge,) = near_identical([first, again])
    assert merge.record_ids == tuple(ids([first, again]))
    assert (merge.summary, merge.facts) == (again.summary, again.facts)


def test_a_line_that_only_the_older_one_has_becomes_a_fact() -> None:
    (merge,) = near_identical([listing(1, OPEN), listing(2, later(OPEN[:2] + OPEN[3:]))])
    assert merge.facts == ("3 | Add support for a node of one's own | api | 2d",)


def test_what_the_question_leaned_on_is_no_part_of_it() -> None:
    leaning = listing(2, later(OPEN), asked="/todos (after: What is next?)")
    assert len(near_identical([listing(1, OPEN), leaning])) == 1


def test_one_that_is_asked_for_a_third_time_joins_the_others() -> None:
    records = [listing(1, OPEN), listing(2, later(OPEN)), listing(3, OPEN)]
    (merge,) = near_identical(records)
    assert sorted(merge.record_ids) == ids(records)


@pytest.mark.parametrize(
    "other",
    [
        listing(2, later(OPEN), asked="/todos testing"),
        listing(2, OPEN[:2]),
        listing(2, [*OPEN[:2], *(f"{line} and {line} as it was meant by others" for line in reversed(OPEN))]),
        listing(2, later(OPEN), origin=Origin.USER),
        listing(2, later(OPEN), origin=Origin.TOOL),
    ],
)
def test_another_question_a_short_or_another_answer_and_a_persons_word_stay_apart(other: MemoryRecord) -> None:
    assert near_identical([listing(1, OPEN), other]) == []


def test_two_that_together_say_more_than_a_record_holds_stay_apart() -> None:
    facts = tuple(f"Part {number} is read by the module named number{number}x alone." for number in range(MAX_FACTS))
    older = attrs.evolve(listing(1, OPEN), facts=facts[:40])
    newer = attrs.evolve(listing(2, OPEN), facts=facts[20:])
    assert near_identical([older, newer]) == []
