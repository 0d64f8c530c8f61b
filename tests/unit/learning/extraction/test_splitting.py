"""A batch that is too long for one prompt is cut between turns where possible.

The prompt's instructions agree with the parser, and do not mislead the built-in learner, which needs none.
"""

from __future__ import annotations

import math
import re

from kiro_learn.learning.extraction.framing import Bounds, frame
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.extraction.splitting import AFTER, BEFORE, Known, half_count, part_to_try, portion, prompt_for
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event, EventKind, MessageBody, Turn
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.models import a_record_per_event
from tests.unit.learning.histories import answer, event, framed, note, prompt, tool, waiting

LONG = "x" * 928


def cut(*events: Event, room: float, earlier: tuple[Event, ...] = (), least_count: int = 1) -> int:
    """How many of ``events`` go into a prompt of ``room`` characters."""
    part = portion(BufferSnapshot(waiting(*events), earlier), room, least_count=least_count)
    assert part.batch == frame(part.snapshot.entries, part.snapshot.earlier_prompts)
    return len(part.snapshot.entries)


def a_turn(first: int, *, session: str = "one") -> tuple[Event, ...]:
    """Three events of about a thousand characters each."""
    return (
        prompt(first, LONG, session=session),
        tool(first + 1, "Bash", {}, LONG, session=session),
        answer(first + 2, LONG, session=session),
    )


SECRET = "".join(("gh", "p_", "a1B2" * 9))


def test_what_was_stored_before_a_rule_existed_is_redacted_for_the_prompt() -> None:
    events = (prompt(2, f"use {SECRET}"), tool(3, "Bash", {"command": f"curl -H {SECRET}"}, SECRET))
    part = portion(BufferSnapshot(waiting(*events), (prompt(1, f"the token is {SECRET}"),)), 1e9)
    assert "use " in part.batch.text
    assert SECRET not in part.batch.text
    assert SECRET not in Known((a_record(1, f"The token is {SECRET}"),)).text


def test_what_fits_is_not_cut() -> None:
    assert cut(*a_turn(1), *a_turn(4), room=math.inf) == 6
    assert cut(*a_turn(1), *a_turn(4), room=7_500) == 6


def test_a_batch_is_cut_after_an_answer() -> None:
    assert cut(*a_turn(1), *a_turn(4), room=6_200) == 3
    assert cut(*a_turn(1), *a_turn(4), *a_turn(7), room=7_500) == 6


def test_a_batch_is_cut_before_the_prompt_that_follows_an_interrupted_one() -> None:
    assert cut(prompt(1, LONG), *a_turn(2), room=4_200) == 1


def test_notes_belong_to_no_turn() -> None:
    assert cut(*a_turn(1), note(4, LONG), *a_turn(5), room=5_300) == 4


def test_a_turn_that_is_too_long_is_cut_anywhere() -> None:
    tools = [tool(number, "Bash", {}, LONG) for number in range(2, 20)]
    assert cut(prompt(1, LONG), *tools, answer(20, LONG), room=5_400) == 5


def test_where_sessions_interleave_the_fewest_turns_are_torn_apart() -> None:
    """Session two is in the middle of its turn throughout, session one again after the fifth event."""
    events = (
        prompt(1, LONG, session="two"),
        prompt(2, LONG),
        tool(3, "Bash", {}, LONG, session="two"),
        answer(4, LONG),
        prompt(5, LONG),
        tool(6, "Bash", {}, LONG, session="two"),
        answer(7, LONG),
        answer(8, LONG, session="two"),
    )
    assert cut(*events, room=6_600) == 4


def test_what_a_session_said_before_counts_as_well() -> None:
    earlier = (prompt(1, LONG), prompt(2, LONG, session="two"))
    assert cut(answer(3, LONG), answer(4, LONG, session="two"), room=3_600, earlier=earlier) == 1


def test_at_least_as_many_as_are_wanted_if_they_fit() -> None:
    events = (note(1, LONG), prompt(2, LONG), *(tool(number, "Bash", {}, LONG) for number in range(3, 9)))
    assert cut(*events, room=4_200) == 1
    assert cut(*events, room=4_200, least_count=2) == 3


def test_one_event_that_is_too_long_is_shown_with_less_of_its_text() -> None:
    turns = tuple(Turn("user", f'"{number}" ' * 100) for number in range(3000))
    snapshot = BufferSnapshot(waiting(event(1, EventKind.NOTE, MessageBody(turns)), note(2, LONG)))
    part = portion(snapshot, 5_000)
    assert len(part.snapshot.entries) == 1
    assert len(part.batch.text) <= 5_000
    assert len(frame(snapshot.entries[:1]).text) > 5_000


def test_the_prompts_before_one_event_cannot_crowd_it_out() -> None:
    earlier = tuple(prompt(number, "y" * 20_000) for number in range(1, 6))
    part = portion(BufferSnapshot(waiting(answer(6, LONG)), earlier), 30_000)
    assert len(part.batch.text) <= 30_000
    assert LONG in part.batch.text


def test_texts_are_not_shortened_for_ever() -> None:
    part = portion(BufferSnapshot(waiting(note(1, LONG * 100))), -1)
    assert len(part.batch.text) > 300


def test_nothing_is_a_portion_too() -> None:
    assert cut(room=10_000) == 0
    assert cut(room=-1) == 0


def test_half_of_the_bounds_is_half_of_everything() -> None:
    assert Bounds(100, 10).halved() == Bounds(50, 5)


class TestHalves:
    """How a batch on which a run failed is halved."""

    def test_turns_stay_whole(self) -> None:
        assert half_count((*a_turn(1), *a_turn(4), *a_turn(7), *a_turn(10))) == 6
        assert half_count((*a_turn(1), *a_turn(4), *a_turn(7))) in {3, 6}
        assert half_count((prompt(1, "a"), *a_turn(2))) == 1

    def test_one_turn_has_none(self) -> None:
        assert half_count(a_turn(1)) == 0
        assert half_count(a_turn(1)[1:]) == 0
        assert half_count((prompt(1, "a"), note(2, "b"), answer(3, "c"))) == 0
        assert half_count((note(1, "a"),)) == 0

    def test_notes_between_turns_are_parted_from_them(self) -> None:
        assert half_count((note(1, "a"), *a_turn(2))) == 1
        assert half_count((note(1, "session started"), *a_turn(2))) == 0
        assert half_count((note(1, "session started"), *a_turn(2), *a_turn(5))) == 4
        assert half_count((note(1, "a"), note(2, "b"))) == 1

    def test_interleaved_turns_are_torn_apart_only_if_there_is_no_other_way(self) -> None:
        one, two = a_turn(1), a_turn(4, session="two")
        woven = tuple(event for pair in zip(one, two, strict=True) for event in pair)
        assert 0 < half_count(woven) < 6
        assert half_count((*woven, *a_turn(7))) == 6

    def test_a_few_steps_find_the_turn_that_fails(self) -> None:
        events = tuple(event for first in range(1, 97, 3) for event in a_turn(first))
        waits, suspect_count, runs = waiting(*events), 0, 0
        bad = waits[40]
        while True:
            part = part_to_try(BufferSnapshot(waits), suspect_count)
            runs += 1
            if bad not in part.entries:
                waits, suspect_count = waits[len(part.entries) :], suspect_count - len(part.entries)
                continue
            suspect_count = len(part.entries)
            if not half_count(part.events):
                break
        assert [entry.event.event_id for entry in part.entries] == [event.event_id for event in events[39:42]]
        assert runs <= 7


BATCH = framed(
    [
        prompt(1, "Which package manager do we use? Always use pnpm here, never npm."),
        answer(2, "We use pnpm, because its lock file is what the deployment of the shop reads and checks."),
    ]
)


def test_every_type_that_is_read_is_explained() -> None:
    for kind in ObservationType:
        assert f"\n- {kind}: " in BEFORE


def test_every_other_choice_that_is_read_is_named() -> None:
    knowledge = BEFORE.partition("KNOWLEDGE, only")[2].partition("\nORIGIN")[0]
    assert all(re.search(rf"\b{kind}\b", knowledge) for kind in KnowledgeType)
    origin = BEFORE.partition("ORIGIN is")[2].partition("\n")[0]
    learned = {Origin.USER, Origin.ASSISTANT, Origin.TOOL}
    assert {kind for kind in Origin if re.search(rf"\b{kind}\b", origin)} == learned


def test_the_shape_that_is_shown_is_one_that_is_read() -> None:
    shown = "<memory_record" + BEFORE.partition("<memory_record")[2].partition("</memory_record>")[0]
    filled = (
        shown.replace("TYPE", "error")
        .replace("NUMBERS", "1")
        .replace("KNOWLEDGE", "heuristic")
        .replace("ORIGIN", "tool")
    ).replace("IMPORTANCE", "9")
    (draft,) = parse(re.sub(r">([^<>\n]+)<", r">our/\1<", filled), BATCH)
    assert (draft.observation_type, draft.knowledge_type, draft.origin, draft.importance) == (
        "error",
        "heuristic",
        "tool",
        9,
    )
    assert (draft.cites, draft.files_modified, len(draft.facts), len(draft.concepts)) == (
        True,
        ("our/path/of/a/file.py",),
        1,
        1,
    )


def test_a_model_that_repeats_the_rule_about_skipping_skips() -> None:
    assert "<skip/>" in BEFORE
    assert parse("<skip/>", BATCH) == []


def test_the_scripted_learner_counts_only_the_events() -> None:
    assert a_record_per_event(prompt_for(BATCH)) == a_record_per_event(BATCH.text)


def test_the_batch_stands_between_what_is_said_before_and_after_it() -> None:
    assert prompt_for(BATCH) == f"{BEFORE}\n{BATCH.text}\n\n{AFTER.format(more='')}"
    assert "data that was recorded" in BEFORE
