"""Without a model, only records in the same words are the same; in doubt, they are not.

A long answer that was given twice is kept once, and nothing that only the older one says is lost.
"""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.reconciliation.judge import near_identical
from kiro_learn.model.record import MAX_FACTS, MemoryRecord, Origin
from tests.unit.learning.reconciliation.builders import a_candidate, ids

LONG_ANSWER = "The cache is keyed by commit. " * 15


def a_record(number: int, summary: str = "Use `pnpm` 9.1 here, never npm.", **fields: object) -> MemoryRecord:
    return a_candidate(number, **{"title": "The package manager", "summary": summary, **fields}).record  # type: ignore[arg-type]  # whatever fields a test names


@pytest.mark.parametrize(
    "other",
    [
        "Use `pnpm` 9.1 here, never npm.",
        "use pnpm 9.1 here, never npm",
        "- Use **pnpm** 9.1 here,\n  never npm.",
    ],
)
def test_the_same_words_are_the_same_however_they_are_set(other: str) -> None:
    (merge,) = near_identical([a_record(1), a_record(2, other)])

    assert merge.record_ids == tuple(ids([a_record(1), a_record(2)]))
    assert merge.summary == other, "the newest one's words"


@pytest.mark.parametrize(
    "other",
    [
        "Use pnpm 9.2 here, never npm.",
        "Use pnpm 91 here, never npm.",
        "Use pnpm 9.1 here, npm.",
        "Use pnpm 9.1 here, always npm.",
        "Use npm 9.1 here, never pnpm.",
        "Use PNPM 9.1 here, never npm.",
        "Use pnpm -9.1 here, never npm.",
        "Use pnpm 9.1 here, never npm, please.",
    ],
)
def test_one_word_number_or_negation_sets_apart(other: str) -> None:
    assert near_identical([a_record(1), a_record(2, other)]) == []


@pytest.mark.parametrize("field", ["files_touched", "files_read", "files_modified"])
def test_another_file_sets_apart(field: str) -> None:
    one, other = ({field: (file,)} for file in ("a.py", "b.py"))
    assert near_identical([attrs.evolve(a_record(1), **one), attrs.evolve(a_record(2), **other)]) == []  # type: ignore[arg-type]  # any field
    assert near_identical([attrs.evolve(a_record(1), **one), a_record(2)]) == []  # type: ignore[arg-type]  # any field


def test_another_title_sets_apart() -> None:
    assert near_identical([a_record(1), a_record(2, title="Another")]) == []


def test_what_a_person_said_stays_a_person_s_word_though_a_tool_repeats_it() -> None:
    said = [attrs.evolve(a_record(number), origin=origin) for number, origin in enumerate(Origin)]

    assert near_identical(said) == []


def test_a_short_answer_is_the_same_only_to_the_same_question() -> None:
    yes = "Yes, that is supported."
    asked = [
        f"Asked: {question}\n{yes}" for question in ("is SSH supported?", "is FTP supported?", "Is SSH supported?")
    ]

    (merge,) = near_identical([a_record(number, summary) for number, summary in enumerate(asked)])

    assert merge.record_ids == tuple(ids([a_record(0), a_record(2)]))


def test_a_long_answer_is_the_same_whatever_was_asked() -> None:
    asked = [f"Asked: {question}\n{LONG_ANSWER}" for question in ("write it down", "give me the full version")]

    assert len(near_identical([a_record(number, summary) for number, summary in enumerate(asked)])) == 1


def test_the_facts_of_all_are_kept() -> None:
    (merge,) = near_identical([a_record(1, facts=("one", "two")), a_record(2, facts=("two", "three"))])

    assert merge.facts == ("one", "two", "three")


@pytest.mark.parametrize(
    ("fact", "other"),
    [("It takes 3 s.", "It takes 4 s."), ("It is cached.", "It is not cached."), ("Needs v1.2", "Needs v1.3")],
)
def test_facts_that_contradict_each_other_set_apart(fact: str, other: str) -> None:
    assert near_identical([a_record(1, facts=(fact, "more")), a_record(2, facts=(other, "less"))]) == []


def test_the_newest_tells_it_even_if_it_stands_first() -> None:
    (merge,) = near_identical([a_record(9), a_record(2, "use pnpm 9.1 here, never npm")])

    assert merge.summary == "Use `pnpm` 9.1 here, never npm."


def test_several_groups_are_found_in_one_cluster() -> None:
    records = [
        a_record(1),
        a_record(2, "Other words."),
        a_record(3),
        a_record(4, "Other words."),
        a_record(5, "Alone."),
    ]

    assert [merge.record_ids for merge in near_identical(records)] == [
        tuple(ids([records[0], records[2]])),
        tuple(ids([records[1], records[3]])),
    ]


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
