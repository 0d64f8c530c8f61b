"""Which things hang together because they share something, directly or through others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def connected(shares: Iterable[Iterable[Hashable]]) -> list[list[int]]:
    """The indices of ``shares`` in groups: two are in the same one if a chain of common elements leads from one to the
    other. Each group in order, and the groups in the order of their first members. ``shares`` are taken one by one.
    """
    first_of: list[int] = []
    owners: dict[Hashable, int] = {}
    for index, elements in enumerate(shares):
        first_of.append(index)
        for element in elements:
            one, other = sorted((_first(first_of, index), _first(first_of, owners.setdefault(element, index))))
            first_of[other] = one
    groups: dict[int, list[int]] = {}
    for index in range(len(first_of)):
        groups.setdefault(_first(first_of, index), []).append(index)
    return list(groups.values())


def _first(first_of: list[int], index: int) -> int:
    """The first member known to be in the same group; shortens the way there for the next call."""
    while first_of[index] != index:
        first_of[index] = first_of[first_of[index]]
        index = first_of[index]
    return index
