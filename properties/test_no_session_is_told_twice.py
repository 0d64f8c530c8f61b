"""Whatever comes between, a session is told a memory again only after its context was made anew."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import attrs
import trio
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedProjects, a_record, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

FOLDER = "/home/ada/shop"
SESSIONS = ("s", "t")
WORDS = ["pool", "cache", "retry", "token", "queue"]


@attrs.frozen
class Ask:
    """As many prompts of one session, all at once."""

    session: str
    query: str
    count: int


@attrs.frozen
class Compact:
    """The session's context is made anew."""

    session: str


@attrs.frozen
class Learn:
    """A memory is kept; or forgotten, if it is there."""

    number: int
    words: str


@attrs.frozen
class Busy:
    """The store refuses the next commit."""


@attrs.frozen
class Restart:
    """The daemon ends and starts again."""


Step: TypeAlias = Ask | Compact | Learn | Busy | Restart

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
asks = st.builds(Ask, st.sampled_from(SESSIONS), phrases, st.integers(1, 3))
steps: st.SearchStrategy[Step] = st.one_of(
    asks,
    asks,
    st.builds(Learn, st.integers(0, 5), phrases),
    st.builds(Compact, st.sampled_from(SESSIONS)),
    st.builds(Restart),
    st.builds(Busy),
)


@given(first=st.lists(st.builds(Learn, st.integers(0, 5), phrases), max_size=6), rest=st.lists(steps, max_size=14))
def test_no_session_is_told_a_memory_twice(first: list[Step], rest: list[Step]) -> None:
    told = simulate_all([*first, *rest])
    note(f"told: {min(told, 5)}")


def simulate_all(story: Sequence[Step]) -> int:
    """How many memories were told."""

    async def scenario() -> int:
        storage = InMemoryStorage()
        told: defaultdict[str, set[RecordId]] = defaultdict(set)
        count = 0
        rest = list(story)
        while rest:
            async with simulated_daemon(storage=storage) as services:
                while rest and not isinstance(step := rest.pop(0), Restart):
                    count += await take(step, services, storage, told)
                await trio.sleep(1)
                await ask(
                    services, Ask("another", "pool", 1), defaultdict(set)
                )  # what was refused is written with this
        return count

    return simulate(scenario)


async def take(step: Step, services: Services, storage: InMemoryStorage, told: defaultdict[str, set[RecordId]]) -> int:
    match step:
        case Ask():
            return await ask(services, step, told)
        case Compact(session):
            start = {"hook_event_name": "SessionStart", "source": "compact", "session_id": session, "cwd": FOLDER}
            await services.hooks.take("claude-code", json.dumps(start).encode(), {}, retrieve=True)
            told[session].clear()
        case Learn(number, words):
            await learn(services, number, words, told)
        case Busy():
            await trio.sleep(1)
            storage.fail_next_write(StorageBusy("locked"))
            await ask(services, Ask("another", "pool cache retry token queue", 1), defaultdict(set))
            await trio.sleep(1)
            storage._write_errors.clear()  # nothing was told, so nothing was written
    return 0


async def ask(services: Services, step: Ask, told: defaultdict[str, set[RecordId]]) -> int:
    namespace = (await FixedProjects().project_of(FOLDER)).namespace
    count = 0

    async def one() -> None:
        nonlocal count
        answer = await services.recall.answer(namespace, TextBody(step.query), session_id=step.session)
        assert told[step.session].isdisjoint(answer.record_ids)
        told[step.session].update(answer.record_ids)
        count += len(answer.record_ids)

    async with trio.open_nursery() as nursery:
        for _ in range(step.count):
            nursery.start_soon(one)
    return count


async def learn(services: Services, number: int, words: str, told: defaultdict[str, set[RecordId]]) -> None:
    namespace = (await FixedProjects().project_of(FOLDER)).namespace
    record = a_record(number, words, f"{words} {number}", namespace=namespace)
    page = await services.queries.records(namespace=namespace, limit=9, offset=0)
    if any(each.record_id == record.record_id for each in page.items):
        await services.forget.forget(record.record_id)
        for session in told.values():
            session.discard(record.record_id)
    else:
        await services.remember.put(record)
    await trio.sleep(1)
