"""A batch that is too long for one prompt is cut into several that fit; together they are all of it, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.framing import frame
from kiro_learn.learning.extraction.splitting import portion
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event, EventKind, TextBody
from tests.unit.learning.histories import event, prompt, waiting

HISTORIES = st.lists(
    st.tuples(st.sampled_from(EventKind), st.integers(0, 900), st.sampled_from(["one", "two", "three"])), max_size=25
).map(
    lambda drawn: [
        event(number, kind, TextBody('<&" x'[number % 5] * length), session=session)
        for number, (kind, length, session) in enumerate(drawn)
    ]
)
EARLIER = st.lists(st.sampled_from(["one", "two"]), max_size=3).map(
    lambda sessions: tuple(prompt(100 + n, "before", session=session) for n, session in enumerate(sessions))
)


def torn_turns(events: list[Event], count: int) -> int:
    """The count of sessions that a cut after ``count`` events leaves in the middle of a turn."""
    torn = 0
    for session in {each.session_id for each in events}:
        own = [(place, each.kind) for place, each in enumerate(events) if each.session_id == session]
        spoken = [(place, kind) for place, kind in own if kind is not EventKind.NOTE]
        before = [kind for place, kind in spoken if place < count]
        after = [kind for place, kind in spoken if place >= count]
        torn += bool(before and after) and (
            before[-1] is not EventKind.SESSION_SUMMARY and after[0] is not EventKind.PROMPT
        )
    return torn


@given(history=HISTORIES, earlier=EARLIER, room=st.integers(500, 6_000))
def test_portions_fit_and_nothing_is_left_out_or_told_twice(
    history: list[Event], earlier: tuple[Event, ...], room: int
) -> None:
    """A single entry may not fit, if even its shortest form is too long."""
    rest = waiting(*history)
    while rest:
        part = portion(BufferSnapshot(rest, earlier), room)
        count = len(part.snapshot.entries)
        assert part.snapshot.entries == rest[:count]
        assert count > 0
        assert len(part.batch.text) <= room or count == 1
        assert part.batch.sources[part.batch.context_count :] == tuple(entry.sources for entry in rest[:count])
        rest = rest[count:]


@given(history=HISTORIES, room=st.integers(500, 6_000))
def test_no_other_cut_would_tear_fewer_turns_apart_or_take_more(history: list[Event], room: int) -> None:
    """Among the cuts that fit, as far as that is known without framing each one."""
    rest = waiting(*history)
    taken = len(portion(BufferSnapshot(rest), room).snapshot.entries)
    for count in range(1, len(rest) + 1):
        if count < taken:
            assert torn_turns(history, count) >= torn_turns(history, taken)
        elif count > taken and len(frame(rest[:count]).text) <= room - 50:  # numbers are counted at their longest
            assert torn_turns(history, count) > torn_turns(history, taken)
