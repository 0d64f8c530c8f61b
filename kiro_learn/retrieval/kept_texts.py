"""A cache of results computed from texts, since a brief reads the same memories each time. Forgetting clears it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

OF_A_BRIEF = 1_000
"""How many texts the last brief or two have."""

_forgetting: list[Callable[[], None]] = []


def kept(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the last ``most`` results of a function, by the text that it was called with."""

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        found = lru_cache(most)(function)
        _forgetting.append(found.cache_clear)
        return cast("Callable[P, T]", found)

    return keeping


def forget_texts() -> None:
    """Clear everything that is kept."""
    for forget in _forgetting:
        forget()
