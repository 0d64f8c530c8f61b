"""For any damaged files of an agent, a reader ends, never fails, and gives only events that can be stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.adapters.histories.damaged import (
    MEMORIES,
    MOST_EVENTS,
    READERS,
    Damage,
    check,
    home_after,
    homes_of_other_sorts,
    remembered,
)
from tests.unit.adapters.histories.telling import told

numbers = st.integers(0, 1 << 20)
damages = st.builds(Damage, numbers, numbers, numbers, st.sampled_from([1, 2, 8, 100, 4096]), numbers)


@pytest.mark.parametrize("name", READERS)
@given(happened=st.lists(damages, min_size=1, max_size=4))
def test_no_damage_breaks_a_reader(name: str, happened: list[Damage]) -> None:
    with home_after(name, happened) as place:
        events, _ = told(READERS[name][0], place)
    for event in events:
        check(event)
    assert len(events) <= MOST_EVENTS


@pytest.mark.parametrize("name", MEMORIES)
@given(happened=st.lists(damages, min_size=1, max_size=4))
def test_no_damage_breaks_a_reader_of_memories(name: str, happened: list[Damage]) -> None:
    with home_after(name, happened) as place:
        records = remembered(name, place)
    assert len(records) <= MOST_EVENTS


@pytest.mark.parametrize("name", READERS)
def test_no_value_of_another_sort_breaks_a_reader(name: str) -> None:
    """As a new version of an agent may write it."""
    for place in homes_of_other_sorts(name):
        for event in told(READERS[name][0], place)[0]:
            check(event)


@pytest.mark.parametrize("name", MEMORIES)
def test_no_value_of_another_sort_breaks_a_reader_of_memories(name: str) -> None:
    for place in homes_of_other_sorts(name):
        remembered(name, place)
