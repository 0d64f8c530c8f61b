from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.consolidation import BEGIN, CompactedConversation, Message, compact


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


def lines_in(found: CompactedConversation) -> list[str]:
    summary = next(each.content for each in found.messages if each.content.startswith(BEGIN))
    return summary.removeprefix(BEGIN).removesuffix("]").splitlines()


@pytest.mark.parametrize(("turns", "kept"), [(2, 2), (3, 3), (4, 3), (10, 5), (20, 10), (40, 10), (100, 10)])
def test_half_of_the_turns_stay_three_at_least_and_ten_at_most(turns: int, kept: int) -> None:
    said = talk(turns)
    found = compact(said, slot=sum(words(message.content) for message in said), count=words)
    assert len([message for message in found.messages if message.role == "user"]) == kept
    assert bool(found.summarized) == (kept < turns)


def test_fewer_stay_where_they_are_long() -> None:
    found = compact(talk(20), slot=100, count=words)
    assert len([message for message in found.messages if message.role == "user"]) == 3


def test_nothing_changes_below_three_quarters() -> None:
    said = talk(6)  # 120 words
    assert compact(said, slot=161, count=words).messages == tuple(said)
    assert compact(said, slot=160, count=words).summarized == tuple(said[:6])


def test_the_summary_says_what_was_asked_and_answered() -> None:
    found = compact(talk(6), slot=160, count=words)
    assert found.messages[0].role == "system"
    assert lines_in(found) == [f"Why is {number}? → Because {number}!" for number in range(3)]
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


@pytest.mark.parametrize(
    ("turns", "size", "slot"), [(20, 120, 4_000), (60, 40, 4_000), (12, 40, 800), (200, 20, 8_000)]
)
def test_each_turn_that_goes_has_a_line(turns: int, size: int, slot: int) -> None:
    said = talk(turns, size=size)
    found = compact(said, slot=slot, count=words)
    lines = lines_in(found)
    assert len(lines) == len(found.summarized) // 2 > 0
    for number, line in enumerate(lines):
        asked, _, answered = line.partition(" → ")
        assert (asked.rstrip("?."), answered[:7]) == (f"Why is {number}", "Because")
    assert found.tokens <= 0.75 * slot


def test_lines_are_as_long_as_their_share_allows() -> None:
    said = []
    for number in range(40):
        said += [Message("user", f"{number} " + "word " * 30), Message("assistant", f"{number} " + "other " * 30)]
    found = compact(said, slot=3_000, count=words)
    summary = found.messages[0].content
    assert 0.05 * 3_000 < words(summary) <= 0.1 * 3_000 + 5
    assert len(summary.splitlines()) == 1 + 30


def test_where_short_lines_do_not_fit_one_says_how_many_turns_were_before() -> None:
    first = compact(talk(400, size=7), slot=1_000, count=words)
    earlier, *rest = lines_in(first)
    assert earlier.endswith(" earlier turns)")
    assert int(earlier.strip("(").split()[0]) + len(rest) == 390
    second = compact([*first.messages, *talk(100, size=10)], slot=1_000, count=words)
    earlier, *rest = lines_in(second)
    assert int(earlier.strip("(").split()[0]) + len(rest) == 490
    assert second.tokens < 1_000 * 0.75


def test_a_turn_without_words_has_a_line_too() -> None:
    said = [*talk(1), Message("user", "  "), Message("tool", "x"), *talk(6, size=30)]
    assert lines_in(compact(said, slot=300, count=words))[1] == "(no words)"


def test_a_summary_is_added_to() -> None:
    first = compact(talk(6, size=30), slot=400, count=words)
    second = compact([*first.messages, *talk(6, size=30)], slot=400, count=words)
    assert lines_in(first) == lines_in(second)[:3]
    assert lines_in(second)[3:] == [f"Why is {number}? → Because {number}!" for number in (3, 4, 5, 0, 1, 2)]


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


def test_what_is_still_too_long_is_made_shorter_at_once() -> None:
    said = [Message("user", text) for text in ("0", "0", "0", "0", "0", "0", "0", "0", "", "", "")]
    once = compact(said, slot=2, count=words)
    assert compact(once.messages, slot=2, count=words).messages == once.messages


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
