from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.consolidation.conversation import BEGIN, Message, compact


def words(text: str) -> int:
    return len(text.split())


def talk(turns: int, size: int = 10) -> list[Message]:
    said = []
    for number in range(turns):
        said += [
            Message("user", f"Why is {number}? " + "Word " * (size - 3)),
            Message("assistant", f"Because {number}! " + "Word " * (size - 2)),
        ]
    return said


@pytest.mark.parametrize(("turns", "kept"), [(2, 2), (3, 3), (4, 3), (10, 5), (20, 10), (40, 10), (100, 10)])
def test_half_of_the_turns_stay_three_at_least_and_ten_at_most(turns: int, kept: int) -> None:
    said = talk(turns)
    found = compact(said, slot=sum(words(message.content) for message in said), count=words)
    assert len([message for message in found.messages if message.role == "user"]) == kept
    assert (found.summarized_count > 0) == (kept < turns)


def test_fewer_stay_where_they_are_long() -> None:
    found = compact(talk(20), slot=100, count=words)
    assert len([message for message in found.messages if message.role == "user"]) == 3


def test_nothing_changes_below_three_quarters() -> None:
    said = talk(6)  # 120 words
    assert compact(said, slot=161, count=words).messages == tuple(said)
    assert compact(said, slot=160, count=words).summarized_count == 6


def test_the_summary_says_what_was_asked_and_answered() -> None:
    found = compact(talk(6), slot=160, count=words)
    assert found.messages[0].role == "system"
    lines = found.messages[0].content.removeprefix(BEGIN).rstrip("]").splitlines()
    assert lines == [f"Why is {number}? → Because {number}!" for number in range(3)][-2:]
    assert found.messages[1:] == tuple(talk(6)[6:])
    assert found.tokens == sum(words(message.content) for message in found.messages)


def test_a_long_conversation_is_not_counted_again_for_each_line_that_goes() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    said = talk(1_000, size=20)
    compact(said, slot=4_000, count=count)
    assert sum(counted) < 10 * sum(len(message.content) for message in said)


def test_a_summary_is_added_to_and_its_oldest_lines_go() -> None:
    first = compact(talk(6), slot=160, count=words)
    grown = [*first.messages, *talk(6, size=12)]
    second = compact(grown, slot=160, count=words)
    lines = second.messages[0].content.removeprefix(BEGIN).rstrip("]").splitlines()
    assert words("\n".join(lines)) <= 16
    assert lines[-1] == "Why is 2? → Because 2!"


def test_what_an_agent_was_told_to_be_stays_in_front() -> None:
    orders = [Message("system", "You are the release agent. Never push on a Friday."), Message("system", "Be brief.")]
    first = compact([*orders, *talk(6)], slot=160, count=words)
    assert first.messages[:2] == tuple(orders)
    assert first.messages[2].content.startswith(BEGIN)
    second = compact([*first.messages, *talk(6, size=12)], slot=160, count=words)
    assert second.messages[:2] == tuple(orders)
    assert [message.content.startswith(BEGIN) for message in second.messages].count(True) == 1


def test_what_would_not_be_shorter_stays_as_it_is() -> None:
    said = [Message("user", f"{number}?") for number in range(4)]
    assert compact(said, slot=4, count=words).messages == tuple(said)


MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant", "tool", "system"]), st.text(max_size=60)), max_size=30
)


@given(MESSAGES, st.integers(0, 200))
def test_what_was_made_shorter_stays_as_it_is(messages: list[Message], slot: int) -> None:
    once = compact(messages, slot=slot, count=words)
    assert compact(once.messages, slot=slot, count=words).messages == once.messages
    newest = [message for message in messages if message.role == "user"][-3:]
    assert [message for message in once.messages if message.role == "user"][-3:] == newest
    before = sum(words(message.content) for message in messages)
    assert once.tokens < before or once.messages == tuple(messages)
