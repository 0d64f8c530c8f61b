"""The turns that are learned again, their order, and the records that are replaced.

Some records may be replaced only by a faithful one; the tests show which records, and which ones are faithful.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from kiro_learn.learning.relearning import (
    PastEvent,
    PastTurn,
    RelearningPlan,
    Supersession,
    as_old_as_weak,
    batch_length,
    holds,
    is_far_less,
    plan,
    supersessions,
    without_losses,
    word_counts,
)
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.simulation import EPOCH

PROMPT, TOOL, ANSWER, NOTE = (
    EventKind.PROMPT,
    EventKind.TOOL_USE,
    EventKind.SESSION_SUMMARY,
    EventKind.NOTE,
)


def event_id(number: int) -> EventId:
    return EventId(f"00{number:024d}")


def happened(*kinds: EventKind, sessions: str = "", size_bytes: int = 10) -> list[PastEvent]:
    """Events 0, 1, 2 and so on. ``sessions`` has one letter, a session, for each; by default all are in one."""
    names = sessions or "s" * len(kinds)
    return [
        PastEvent(event_id(number), session, kind, size_bytes)
        for number, (kind, session) in enumerate(zip(kinds, names, strict=True))
    ]


def record(number: int, *sources: int) -> MemoryRecord:
    return attrs.evolve(a_record(number), source_event_ids=tuple(map(event_id, sources)))


def numbers(events: Sequence[PastEvent]) -> list[int]:
    return [int(event.event_id) for event in events]


def order_of(planned: RelearningPlan) -> list[list[int]]:
    return [numbers(turn.events) for turn in planned.turns]


def test_a_turn_that_is_cited_is_learned_again_whole_and_others_are_not() -> None:
    events = happened(PROMPT, TOOL, ANSWER, PROMPT, ANSWER)
    assert order_of(plan(events, [record(1, 0, 2)], ())) == [[0, 1, 2]]


def test_sessions_that_were_interleaved_are_told_apart() -> None:
    events = happened(PROMPT, PROMPT, ANSWER, NOTE, ANSWER, sessions="abaab")
    assert order_of(plan(events, [record(1, 0), record(2, 4), record(3, 3)], ())) == [[0, 2], [1, 4], [3]]


def test_prompts_without_an_answer_belong_to_the_next_that_has_one() -> None:
    events = happened(PROMPT, PROMPT, ANSWER, PROMPT)
    assert order_of(plan(events, [record(1, 1), record(2, 3)], ())) == [[0, 1, 2], [3]]


def test_turns_that_one_record_tells_of_stand_side_by_side() -> None:
    events = happened(NOTE, NOTE, NOTE, NOTE)
    records = [record(1, 1), record(2, 0, 3), record(3, 2)]
    assert order_of(plan(events, records, ())) == [[0], [3], [1], [2]]


def test_a_record_is_left_alone_if_an_event_of_it_is_missing() -> None:
    planned = plan(happened(NOTE, NOTE), [record(1, 0, 7), record(2, 1)], ())
    assert (order_of(planned), [each.title for each in planned.weak.values()]) == ([[1]], ["record 2"])


def test_what_a_better_record_tells_of_is_only_shown_as_what_came_before() -> None:
    """An earlier relearning ended in the middle of this turn."""
    (turn,) = plan(happened(PROMPT, TOOL, ANSWER), [record(1, 0, 2)], {event_id(0)}).turns
    assert (numbers(turn.earlier), numbers(turn.events)) == ([0], [1, 2])


def test_a_record_of_which_better_ones_tell_everything_is_no_reason_to_learn_again() -> None:
    planned = plan(happened(PROMPT, ANSWER), [record(1, 0, 1)], {event_id(0), event_id(1)})
    assert (planned.turns, planned.weak) == ((), {})


def test_a_batch_has_as_many_turns_as_fit_but_one_at_least() -> None:
    turns = [PastTurn((event,), frozenset()) for event in happened(*[NOTE] * 5)]
    assert [batch_length(turns, most) for most in (1, 10, 29, 30, 1000)] == [1, 1, 2, 3, 5]
    assert batch_length([], 10) == 0


def test_the_number_of_calls_goes_by_what_a_prompt_shows() -> None:
    events = happened(TOOL, TOOL, TOOL, ANSWER, size_bytes=100_000)
    planned = plan(events, [record(1, 0)], ())
    assert planned.event_count == 4
    assert [planned.calls(size) for size in (100_000, 20_000, 10_000, 1)] == [1, 2, 4, 4]


def test_a_record_makes_way_for_what_tells_of_its_events() -> None:
    new, weak = [record(10, 0, 1), record(11, 2)], [record(1, 0), record(2, 2, 3), record(3, 1)]
    found = supersessions(new, weak, [event_id(number) for number in range(4)])
    assert [(supersession.new, supersession.weak) for supersession in found] == [
        ((new[0],), (weak[0], weak[2])),
        ((new[1],), (weak[1],)),
    ]


def test_a_record_of_which_nothing_is_told_any_more_makes_way_for_the_nearest() -> None:
    new, weak = [record(10, 0), record(11, 5)], [record(1, 1), record(2, 4), record(3, 99)]
    found = supersessions(new, weak, [event_id(number) for number in range(6)])
    assert [supersession.weak for supersession in found] == [(weak[0], weak[2]), (weak[1],)]


def test_what_tells_of_several_has_one_succession_with_all_that_it_connects() -> None:
    new, weak = [record(10, 0), record(11, 1)], [record(1, 0, 1)]
    (found,) = supersessions(new, weak, [event_id(0), event_id(1)])
    assert (found.new, found.weak) == (tuple(new), tuple(weak))


def test_nothing_makes_way_for_nothing() -> None:
    assert supersessions([], [record(1, 0)], [event_id(0)]) == []
    assert supersessions([record(10, 0)], [], [event_id(0)]) == []


def test_what_is_new_is_as_old_as_the_newest_that_told_of_its_turns() -> None:
    events, weak = happened(PROMPT, ANSWER, PROMPT, ANSWER), [record(1, 0), record(3, 1), record(7, 2), record(9, 99)]
    turns = plan(events, weak, ()).turns
    assert as_old_as_weak(record(20, 1), turns, weak).created_at == weak[1].created_at
    assert as_old_as_weak(record(20, 0, 3), turns, weak).created_at == weak[2].created_at


def test_what_cites_events_of_another_limit_is_dated_too() -> None:
    """The first kiro-learn accepted ids that are invalid today."""
    odd = EventId("event of long ago")
    turns = [PastTurn((PastEvent(odd, "s", PROMPT, 10),), frozenset({record(3, 0).record_id}))]
    new = unchecked_evolve(record(20, 0), source_event_ids=(odd,))
    assert as_old_as_weak(new, turns, [record(3, 0)]).created_at == record(3, 0).created_at


def test_what_is_new_keeps_its_date_where_no_memory_told_of_its_turns() -> None:
    assert as_old_as_weak(record(20, 1), [], [record(1, 1)]) == record(20, 1)


def rule(title: str, *, summary: str = "", files: tuple[str, ...] = ()) -> MemoryRecord:
    record = a_record(1, title, summary or title)
    return attrs.evolve(
        record, origin=Origin.USER, knowledge_type=KnowledgeType.CONSTRAINT, files_touched=files, facts=()
    )


def told(title: str, summary: str = "") -> MemoryRecord:
    return a_record(2, title, summary or title)


@pytest.mark.parametrize(
    "change",
    [
        {"origin": Origin.USER},
        {"knowledge_type": KnowledgeType.CONSTRAINT},
        {"knowledge_type": KnowledgeType.DECISION},
        {"knowledge_type": KnowledgeType.REJECTED},
        {"observation_type": ObservationType.DECISION},
        {"pinned_at": EPOCH},
    ],
)
def test_a_persons_words_constraints_decisions_and_pins_are_protected(change: dict[str, Any]) -> None:
    assert attrs.evolve(a_record(1), **change).is_protected
    assert not a_record(1).is_protected


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("Always use pnpm here, never npm.", told("Use pnpm", "This project uses pnpm, never npm.")),
        (
            "Never commit to main directly, always open a pull request.",
            told("Commits reach main by pull requests only; no direct ones, open a request"),
        ),
        ("Pin Python to 3.11 in CI", told("CI runs Python 3.11", "The version is pinned.")),
        ("We decided on zstandard", told("Zstandard was decided on for snapshots")),
    ],
)
def test_a_record_that_says_it_in_other_words_holds_it(words: str, new: MemoryRecord) -> None:
    assert holds(new, rule(words), word_counts([rule(words)]))


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("Never commit to main directly, always open a pull request.", told("Use pnpm", "Never npm.")),
        ("Always use pnpm here, never npm.", told("Work was done on the project")),
        ("Always use pnpm here, never npm.", told("Use pnpm or npm here")),
        ("Pin Python to 3.11 in CI", told("CI pins Python")),
        ("Keep Zanzibar as the region", told("Keep a region")),
        ("NEVER edit the lock file", told("Edit the lock file")),
    ],
)
def test_a_record_without_its_rare_words_numbers_or_negation_does_not(words: str, new: MemoryRecord) -> None:
    assert not holds(new, rule(words), word_counts([rule(words)]))


def test_its_files_are_named_or_listed() -> None:
    record = rule("Never edit the lock file", files=("web/pnpm-lock.yaml",))
    counts = word_counts([record])
    assert not holds(told("Never edit the lock file"), record, counts)
    assert holds(told("Never edit the lock file", "It is web/pnpm-lock.yaml."), record, counts)
    assert holds(attrs.evolve(told("Never edit the lock file"), files_read=("web/pnpm-lock.yaml",)), record, counts)


def test_words_that_many_records_have_say_less_than_those_that_few_have() -> None:
    record = rule("alpha beta gamma delta epsilon zeta eta theta iota")
    common = [told("alpha beta gamma delta epsilon zeta eta theta")] * 20
    assert holds(told("beta gamma delta epsilon zeta eta theta iota"), record, word_counts([record, *common]))
    assert not holds(told("alpha beta gamma delta epsilon zeta eta theta"), record, word_counts([record, *common]))


def test_what_no_new_record_holds_stays_and_the_rest_goes() -> None:
    kept, going = rule("Never commit to main directly"), told("something about main")
    lazy = told("Work was done")
    done, stays = without_losses([Supersession((lazy,), (kept, going))], word_counts([kept, going]), {})
    assert ([each.weak for each in done], stays) == ([(going,)], (kept,))
    done, stays = without_losses([Supersession((lazy,), (kept,))], word_counts([kept]), {})
    assert (done, stays) == ([], (kept,))


def test_what_a_new_record_becomes_in_a_merge_must_hold_it_too() -> None:
    kept = rule("Never commit to main directly")
    new = told("Never commit to main directly")
    merged = {new.record_id: told("Work was done")}
    done, stays = without_losses([Supersession((new,), (kept,))], word_counts([kept]), merged)
    assert (done, stays) == ([], (kept,))


@pytest.mark.parametrize(
    ("going", "coming", "is_less"), [(4, 1, False), (5, 1, True), (6, 1, True), (8, 2, False), (9, 2, True)]
)
def test_more_than_four_for_one_is_far_less(going: int, coming: int, is_less: bool) -> None:
    assert is_far_less([told("some title")] * going, [told("some title")] * coming) == is_less


def test_much_text_for_little_is_far_less() -> None:
    long, short = told("t", "word " * 600), told("t", "word " * 20)
    assert is_far_less([long], [short])
    assert not is_far_less([long], [told("t", "word " * 60)])
    assert not is_far_less([told("t", "word " * 100)], [told("t")])


def test_other_endings_and_a_filler_word_lose_nothing() -> None:
    old = rule(
        "Configuration of release-please uses a token instead of the default, so that downstream automation starts"
    )
    new = told(
        "release-please is configured with a token", "So automated steps downstream are started; the default is not."
    )
    assert holds(new, old, word_counts([old]))


def test_a_name_is_held_as_it_stands_or_is_lost() -> None:
    old = rule("The pool in core/db_pool.py keeps 20 connections")
    assert not holds(told("The pool of core keeps 20 connections"), old, word_counts([old]))
