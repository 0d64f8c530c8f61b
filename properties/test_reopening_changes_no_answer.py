from __future__ import annotations

from typing import Any

import trio
from hypothesis import given

from kiro_learn.ports.storage.interface import Work
from kiro_learn.testing.storage import InMemoryStorage
from properties.sqlite_files import USER_HOME, with_sqlite
from properties.stories import answers, batches, questions, texts, told

Story = list[list[Work[Any]]]


@given(story=batches, query=texts)
def test_reopening_changes_no_answer(story: Story, query: str) -> None:
    """A store that answered after every batch answers like one that was just opened.

    Its indexes and rows in memory make no difference.
    """

    async def live() -> None:
        kept = InMemoryStorage(user_home=USER_HOME)
        for batch in story:
            reopened = kept.copied()
            outcomes = [list(map(told, await store.transact(batch))) for store in (kept, reopened)]
            assert outcomes[0] == outcomes[1]
            assert await answers(kept, questions(query)) == await answers(kept.copied(), questions(query))

    trio.run(live)


@given(story=batches, query=texts)
def test_threads_and_a_file_change_no_answer(story: Story, query: str) -> None:
    """The store of the tests, in memory and without threads, answers like the one that the daemon opens."""

    async def live(store: Any) -> Any:
        outcomes = [list(map(told, await store.transact(batch))) for batch in story]
        return outcomes, await answers(store, questions(query))

    async def both(on_disk: Any) -> None:
        assert await live(on_disk) == await live(InMemoryStorage(user_home=USER_HOME))

    with_sqlite(both)
