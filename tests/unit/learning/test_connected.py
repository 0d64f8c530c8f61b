"""Things hang together by what they share, also through others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.aftermath import connected

SHARES = st.lists(st.frozensets(st.integers(0, 9), max_size=3), max_size=8)


def test_a_chain_is_one_group() -> None:
    assert connected(["ab", "x", "bc", "", "cd"]) == [[0, 2, 4], [1], [3]]


def test_nothing_has_no_groups() -> None:
    assert connected([]) == []


@given(SHARES)
def test_groups_share_nothing_and_cannot_be_parted(shares: list[frozenset[int]]) -> None:
    groups = connected(shares)
    assert sorted(index for group in groups for index in group) == list(range(len(shares)))
    assert groups == sorted(sorted(group) for group in groups)
    for group in groups:
        inside = [shares[index] for index in group]
        outside = [share for index, share in enumerate(shares) if index not in group]
        assert not any(one & other for one in inside for other in outside)
        reached = inside[0]
        for _ in group:
            reached |= frozenset().union(*(share for share in inside if share & reached))
        assert len(group) == 1 or all(share <= reached for share in inside)
