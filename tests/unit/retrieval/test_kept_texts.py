"""A cache of values that were computed from texts."""

from __future__ import annotations

import trio

from kiro_learn.retrieval.kept_texts import forget_texts, kept
from kiro_learn.testing.storage import InMemoryStorage

asked: list[str] = []


@kept(2)
def length_of(text: str) -> int:
    asked.append(text)
    return len(text)


def test_only_the_last_texts_are_not_read_again() -> None:
    asked.clear()
    assert [length_of(text) for text in ("a", "bb", "a", "ccc", "bb")] == [1, 2, 1, 3, 2]
    assert asked == ["a", "bb", "ccc", "bb"]


def test_nothing_outlives_a_forgetting() -> None:
    async def erase() -> None:
        storage = InMemoryStorage()
        await storage.erase_forgotten()

    for forget in (forget_texts, lambda: trio.run(erase)):
        length_of("a")
        asked.clear()
        forget()
        length_of("a")
        assert asked == ["a"]
