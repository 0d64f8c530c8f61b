"""What was worked out of texts lately: a brief reads the same memories each time. No forgetting leaves any of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

OF_A_BRIEF = 1_000
"""The texts of the last brief or two."""

_forgetting: list[Callable[[], None]] = []


def kept(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the last ``most`` answers of a function by the text that it was asked."""

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        found = lru_cache(most)(function)
        _forgetting.append(found.cache_clear)
        return cast("Callable[P, T]", found)

    return keeping


def forget_texts() -> None:
    """Let all that is kept go."""
    for forget in _forgetting:
        forget()
