"""Replaced records are in no answer, and are back as they were after an undo."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction, Work
from kiro_learn.testing.storage import InMemoryStorage, delete_records, transact_one
from properties.sqlite_files import USER_HOME, with_sqlite
from properties.stories import (
    HISTORY,
    NAMESPACES,
    OF_LEARNERS,
    RECORD_IDS,
    START,
    answers,
    batches,
    put_embedding,
    put_record,
    questions,
    records,
    set_aside,
    texts,
)

MINE = NAMESPACES[0]
CERTAIN_ID = RecordId(f"mr_{70:026}")
NEW_IDS = [RecordId(f"mr_{number:026}") for number in (80, 81)]

arrivals = st.lists(
    records(of=st.just(MINE), ids=NEW_IDS), min_size=1, max_size=2, unique_by=lambda record: record.record_id
)
certain = records(of=st.just(MINE), ids=[CERTAIN_ID])
"""A record that every story has, so that a replacement has a record to replace."""
fates: st.SearchStrategy[list[Work[Any]]] = st.sampled_from(
    [[], [put_embedding(CERTAIN_ID, 5)], [set_aside(CERTAIN_ID)]]
)
"""Works after which the record waits for a vector, has one, or was set aside."""
stories = st.builds(lambda story, record, fate: [*story, [put_record(record), *fate]], batches, certain, fates)


@given(story=stories, came=arrivals, chosen=st.sets(st.sampled_from(RECORD_IDS)), query=texts)
def test_an_undone_replacement_never_happened(
    story: list[list[Work[Any]]],
    came: list[MemoryRecord],
    chosen: set[RecordId],
    query: str,
) -> None:
    """Every question has the answer that it had before: words and their scores, vectors, lists, counts, histories."""

    async def live(store: StorageBackend) -> None:
        await tell(store, story)
        before = await answers(store, questions(query))
        went = await living(store, MINE, chosen | {CERTAIN_ID})
        await transact_one(store, replacing(came, went))
        assert await answers(store, questions(query)) != before
        undone = await transact_one(store, lambda tx: tx.undo_replacement(came[-1].record_id))
        assert list(undone.replaced) == sorted(went, key=lambda record: record.record_id)
        assert await answers(store, questions(query)) == before

    on_both(live)


@given(story=stories, came=arrivals, chosen=st.sets(st.sampled_from(RECORD_IDS)), query=texts)
def test_what_was_replaced_is_as_good_as_forgotten(
    story: list[list[Work[Any]]],
    came: list[MemoryRecord],
    chosen: set[RecordId],
    query: str,
) -> None:
    """All answers but histories, and those for learners, are as in a store that forgot the record instead."""

    async def live(store: StorageBackend) -> None:
        other = InMemoryStorage(user_home=USER_HOME)
        for each in (store, other):
            await tell(each, story)
        went = await living(store, MINE, chosen | {CERTAIN_ID})
        await transact_one(store, replacing(came, went))
        await delete_records(other, [record.record_id for record in went])
        await transact_one(other, putting(came))
        other_questions = (HISTORY, *OF_LEARNERS)
        asked = {name: asks for name, asks in questions(query).items() if not name.startswith(other_questions)}
        assert await answers(store, asked) == await answers(other, asked)

    on_both(live)


def on_both(scenario: Callable[[StorageBackend], Awaitable[None]]) -> None:
    async def both(on_sqlite: StorageBackend) -> None:
        await scenario(on_sqlite)
        await scenario(InMemoryStorage(user_home=USER_HOME))

    with_sqlite(both)


async def tell(store: StorageBackend, story: Sequence[Sequence[Work[Any]]]) -> None:
    for batch in story:
        await store.transact(batch)


async def living(store: StorageBackend, namespace: Namespace, record_ids: set[RecordId]) -> list[MemoryRecord]:
    found = await store.get_memory_records(sorted(record_ids, reverse=True))
    return [record for record in found if record.namespace == namespace]


def putting(came: Sequence[MemoryRecord]) -> Work[None]:
    """A work that puts records, the first of them with its vector."""

    def put(tx: StorageTransaction) -> None:
        for record in came:
            tx.put_memory_record(record)
        put_embedding(came[0].record_id, 7)(tx)

    return put


def replacing(came: Sequence[MemoryRecord], went: Sequence[MemoryRecord]) -> Work[None]:
    replacement = Replacement(
        replacement_id="the last",
        namespace=MINE,
        reason=ReplacementReason.MERGED,
        replaced_at=START,
        replacing=tuple(record.record_id for record in came),
        replaced=tuple(went),
    )

    def replace(tx: StorageTransaction) -> None:
        putting(came)(tx)
        tx.replace_memory_records(replacement)

    return replace
