from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import trio
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.namespace import Namespace, Pause
from kiro_learn.model.stored import KINDS, Restored
from kiro_learn.ports.storage.answers import Committed
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.wire.exported import read_line, read_piece, write_piece
from properties.sqlite_files import USER_HOME
from properties.stories import answers, batches, namespaces, questions, texts

Story = list[list[Work[Any]]]

DAWN = datetime(2026, 1, 5, tzinfo=UTC)
NAMES = st.sampled_from([None, "web", "shop", "caf\u00e9"])


def rename(namespace: Namespace, name: str | None) -> Work[Any]:
    return lambda tx: tx.rename_project(namespace, name)


def merge(source: Namespace, target: Namespace) -> Work[Any]:
    """A merge as the service does it. It is refused for one project, or for projects with different models."""

    def work(tx: StorageTransaction) -> None:
        tx.begin_merge(source, target)
        while tx.merge_some(source, limit=3):
            pass

    return work


def pause(namespace: Namespace, session_id: str | None, since: datetime) -> Work[Any]:
    return lambda tx: tx.put_pause(Pause(namespace, session_id, since))


of_projects: st.SearchStrategy[Work[Any]] = st.one_of(
    st.builds(rename, namespaces, NAMES),
    st.builds(merge, namespaces, namespaces),
    st.builds(pause, namespaces, st.sampled_from([None, "s"]), st.just(DAWN)),
)
stories = st.tuples(batches, st.lists(st.tuples(st.integers(0, 8), of_projects), max_size=3)).map(
    lambda drawn: with_works(*drawn)
)


def with_works(story: Story, works: list[tuple[int, Work[Any]]]) -> Story:
    """``story`` with each of ``works`` as a batch of its own."""
    for place, work in works:
        story = [*story[:place], [work], *story[place:]]
    return story


MADE_ANEW = ("unembedded", "counts of", "vectors", "models", "behind", "embedded again")
"""The beginnings of questions about vectors, which are made anew."""
OF_COMPACTIONS = ("buffer",)
"""The beginnings of questions about compactions: their events wait again one by one."""
NOT_EXPORTED = ("usage",)


async def exported(store: InMemoryStorage) -> list[bytes]:
    reading = await store.open_reading(KINDS)
    lines: list[bytes] = []
    while page := await reading.next_page():
        lines += map(write_piece, page)
    await reading.close()
    return lines


async def restored(store: InMemoryStorage, lines: Sequence[bytes]) -> list[Restored]:
    def work(transaction: StorageTransaction) -> list[Restored]:
        return [transaction.restore(read_piece(*read_line(line))) for line in lines]

    (outcome,) = await store.transact([work])
    assert isinstance(outcome, Committed), outcome
    return list(outcome.value)


def compared(said: dict[str, Any]) -> dict[str, Any]:
    projects = [attrs.evolve(project, waiting_count=0) for project in said["projects"]]  # as ``OF_COMPACTIONS``
    return said | {"projects": projects}


@given(story=stories, query=texts, cut=st.integers(0, 40))
def test_an_export_makes_the_same_store(story: Story, query: str, cut: int) -> None:
    """Whatever happened to a store, a store made of its export gives the same answers and the same export.

    The same holds if the export is read in twice, and was cut off the first time.
    """

    async def live() -> None:
        store = InMemoryStorage(user_home=USER_HOME)
        for batch in story:
            await store.transact(batch)
        lines = await exported(store)
        other = InMemoryStorage(user_home=USER_HOME)
        await restored(other, lines[:cut])
        await restored(other, lines)
        assert await exported(other) == lines
        asked = questions(query)
        left_out = (*MADE_ANEW, *OF_COMPACTIONS, *NOT_EXPORTED)
        kept = {name: ask for name, ask in asked.items() if not name.startswith(left_out)}
        assert await other.list_merged() == await store.list_merged()
        assert await other.list_project_names() == await store.list_project_names()
        assert await other.list_pauses() == await store.list_pauses()
        assert compared(await answers(other, kept)) == compared(await answers(store, kept))

    trio.run(live)
