from __future__ import annotations

from typing import Any

from hypothesis import given

from kiro_learn.ports.storage.interface import StorageBackend, Work
from kiro_learn.testing.storage import InMemoryStorage
from properties.sqlite_files import USER_HOME, with_sqlite
from properties.stories import answers, batches, questions, texts, told


@given(story=batches, query=texts)
def test_stores_tell_the_same_story(story: list[list[Work[Any]]], query: str) -> None:
    """Whatever is written, both stores answer every question alike; scores and the order of equals included."""

    async def live(store: StorageBackend) -> Any:
        outcomes = [list(map(told, await store.transact(batch))) for batch in story]
        return outcomes, await answers(store, questions(query))

    async def both(on_sqlite: StorageBackend) -> None:
        assert await live(on_sqlite) == await live(InMemoryStorage(user_home=USER_HOME))

    with_sqlite(both)
