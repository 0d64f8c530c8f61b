"""Once all replacements are undone, every search finds exactly what it found before them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import trio
from hypothesis import strategies as st

from kiro_learn.errors import ReplacedSince
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, scheduled
from kiro_learn.testing.storage import InMemoryStorage, transact_one

WORDS = st.sampled_from(["parser", "token", "cache", "lock", "retry", "schema", "index", "budget", "daemon", "socket"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


class Step(NamedTuple):
    """A replacement of some live records by new ones."""

    going: frozenset[int]
    """The places of the replaced records among the live ones, modulo their count."""
    coming: Sequence[str]
    """The titles of the new records."""


STEPS = st.builds(
    Step,
    going=st.frozensets(st.integers(0, 20), min_size=1, max_size=3),
    coming=st.lists(TEXTS, min_size=1, max_size=2),
)


@scheduled(
    titles=st.lists(TEXTS, min_size=1, max_size=8),
    steps=st.lists(STEPS, min_size=1, max_size=4),
    query=TEXTS,
    choices=st.randoms(use_true_random=False),
)
async def test_undoing_every_replacement_restores_every_search(
    titles: list[str], steps: list[Step], query: str, choices: Random
) -> None:
    storage = InMemoryStorage()
    records = [a_record(number, title) for number, title in enumerate(titles)]
    async with simulated_daemon(storage=storage) as services:
        await services.remember.put_all(records)
        await trio.sleep(60)
        before = await found(services, query)
    brought = await replace_step_by_step(storage, records, steps)
    async with simulated_daemon(storage=storage) as services:
        await trio.sleep(60)
        while brought:
            brought -= {*(await undo_through(services, choices.choice(sorted(brought)))).replacing}
        assert await found(services, query) == before


async def found(services: Services, query: str) -> list[list[MemoryRecord]]:
    """The records that each way of searching finds."""
    return [list((await services.search.search(NAMESPACE, query, limit=9, mode=mode)).records) for mode in SearchMode]


async def replace_step_by_step(
    storage: InMemoryStorage, records: Sequence[MemoryRecord], steps: Sequence[Step]
) -> set[RecordId]:
    """Carry out ``steps``; returns the ids of all new records."""
    alive, brought = list(records), set()
    for position, step in enumerate(steps):
        gone = tuple(alive[place] for place in sorted({place % len(alive) for place in step.going}))
        came = [a_record(100 + 10 * position + number, title) for number, title in enumerate(step.coming)]
        await transact_one(storage, replacing(came, gone, f"00{position:024d}"))
        alive = [record for record in alive if record not in gone] + came
        brought |= {record.record_id for record in came}
    return brought


def replacing(came: Sequence[MemoryRecord], gone: tuple[MemoryRecord, ...], replacement_id: str) -> Work[None]:
    def work(transaction: StorageTransaction) -> None:
        for record in came:
            transaction.put_memory_record(record)
        transaction.replace_memory_records(
            Replacement(
                replacement_id=replacement_id,
                namespace=NAMESPACE,
                reason=ReplacementReason.MERGED,
                replaced_at=EPOCH,
                replacing=tuple(record.record_id for record in came),
                replaced=gone,
            )
        )

    return work


async def undo_through(services: Services, record_id: RecordId) -> Replacement:
    """Undo the replacement that brought ``record_id``, or a later one that must be undone first."""
    try:
        undone = await services.history.undo(record_id)
    except ReplacedSince as error:
        undone = await services.history.undo(RecordId(error.replaced_by))
    assert undone is not None
    return undone
