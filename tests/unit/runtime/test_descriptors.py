"""How many descriptors are asked for, and how many of them connections may have."""

from __future__ import annotations

import os
import resource

import pytest

from kiro_learn.runtime.admission import RESERVED, WANTED, connections_for, count_open, raise_limit


class Limits:
    """The system's limits of one process."""

    def __init__(self, soft: int, hard: int) -> None:
        self.now = (soft, hard)

    def get(self, kind: int) -> tuple[int, int]:
        assert kind == resource.RLIMIT_NOFILE
        return self.now

    def set(self, kind: int, limits: tuple[int, int]) -> None:
        assert kind == resource.RLIMIT_NOFILE
        soft, hard = limits
        highest = self.now[1]
        assert hard == highest, "nobody lowers what only root could raise again"
        assert highest == resource.RLIM_INFINITY or soft <= highest
        self.now = limits


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1_024, 1_048_576, WANTED),
        (1_024, 2_000, 2_000),
        (24, 24, 24),
        (8_192, 1_048_576, 8_192),
        (256, resource.RLIM_INFINITY, WANTED),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, WANTED),
    ],
)
def test_as_many_are_asked_for_as_are_wanted_and_lent(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int
) -> None:
    limits = Limits(soft, hard)
    monkeypatch.setattr(resource, "getrlimit", limits.get)
    monkeypatch.setattr(resource, "setrlimit", limits.set)
    assert raise_limit() == raised
    assert limits.now == ((soft if soft == resource.RLIM_INFINITY else raised), hard)
    assert raise_limit() == raised, "asked again, it changes nothing"


@pytest.mark.parametrize(
    ("limit", "opened", "connections"),
    [
        (4_096, 40, 4_024),
        (256, 56, 168),
        (100, 36, 32),
        (64, 40, 12),
        (24, 17, 3),
        (24, 23, 1),
        (24, 24, 1),
        (24, 30, 1),
    ],
)
def test_what_is_free_is_shared_between_connections_and_the_rest(limit: int, opened: int, connections: int) -> None:
    assert connections_for(limit, opened) == connections


@pytest.mark.parametrize("free", range(1, 3 * RESERVED))
def test_one_more_free_descriptor_takes_none_from_either(free: int) -> None:
    one_more = connections_for(free + 1, 0)
    assert 0 <= one_more - connections_for(free, 0) <= 1
    assert one_more <= free + 1


def test_what_is_open_is_counted_without_the_counting_itself() -> None:
    before = count_open()
    reading, writing = os.pipe()
    try:
        assert count_open() == before + 2
    finally:
        os.close(reading)
        os.close(writing)
    assert count_open() == before
