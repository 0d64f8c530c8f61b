"""What is learned again, in which order, and what replaces what."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.learning.relearning import (
    PastEvent,
    PastTurn,
    RelearningPlan,
    as_old_as_weak,
    batch_length,
    plan,
    supersessions,
)
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.testing.daemon import a_record

PROMPT, TOOL, ANSWER, NOTE = (
    EventKind.PROMPT,
    EventKind.TOOL_USE,
    EventKind.SESSION_SUMMARY,
    EventKind.NOTE,
)


def event_id(number: int) -> EventId:
    return EventId(f"00{number:024d}")


def happened(*kinds: EventKind, sessions: str = "", size_bytes: int = 10) -> list[PastEvent]:
    """Events 0, 1, 2 and so on; each in the session named by its letter, by default all in one."""
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
    """It was learned by a relearning that ended in the middle of a turn."""
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
    """The first kiro-learn took ids that are none today."""
    odd = EventId("event of long ago")
    turns = [PastTurn((PastEvent(odd, "s", PROMPT, 10),), frozenset({record(3, 0).record_id}))]
    new = unchecked_evolve(record(20, 0), source_event_ids=(odd,))
    assert as_old_as_weak(new, turns, [record(3, 0)]).created_at == record(3, 0).created_at


def test_what_is_new_keeps_its_date_where_no_memory_told_of_its_turns() -> None:
    assert as_old_as_weak(record(20, 1), [], [record(1, 1)]) == record(20, 1)
