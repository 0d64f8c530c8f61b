"""A session is told a thing again only if it changed, or after the session's context was compacted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs
import trio
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import GraphItem
from kiro_learn.model.retrieval import ToldId
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedProjects, a_record, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import transact_in_daemon
from tests.unit.storage import contract_graph as graph

FOLDER = "/home/ada/shop"
SESSIONS = ("s", "t")
WORDS = ["pool", "cache", "retry", "token", "queue"]


@attrs.frozen
class Ask:
    """``count`` prompts of one session at once."""

    session: str
    query: str
    count: int


@attrs.frozen
class Compact:
    """The session's context is compacted."""

    session: str


@attrs.frozen
class Learn:
    """A memory is stored, or forgotten if it is stored already."""

    number: int
    words: str


@attrs.frozen
class State:
    """A fact, a wish and a way about an entity are stated, in the place of earlier ones."""

    number: int
    words: str


@attrs.frozen
class Busy:
    """The store refuses the next commit."""


@attrs.frozen
class Restart:
    """The daemon ends and starts again."""


Step: TypeAlias = Ask | Compact | Learn | State | Busy | Restart

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
asks = st.builds(Ask, st.sampled_from(SESSIONS), phrases, st.integers(1, 3))
steps: st.SearchStrategy[Step] = st.one_of(
    asks,
    asks,
    st.builds(Learn, st.integers(0, 5), phrases),
    st.builds(State, st.integers(1, 2), phrases),
    st.builds(Compact, st.sampled_from(SESSIONS)),
    st.builds(Restart),
    st.builds(Busy),
)


learned = st.one_of(st.builds(Learn, st.integers(0, 5), phrases), st.builds(State, st.integers(1, 2), phrases))
pipelines = st.sampled_from(["hybrid", "graph"])


@given(
    first=st.lists(learned, min_size=1, max_size=6), rest=st.lists(steps, min_size=2, max_size=14), pipeline=pipelines
)
def test_no_session_is_told_a_thing_twice(
    first: list[Step], rest: list[Step], pipeline: Literal["hybrid", "graph"]
) -> None:
    told = simulate_all([*first, *rest], Config(recall=RecallConfig(pipeline=pipeline)))
    note(f"by {pipeline}")
    note(f"told: {min(told, 5)}")


def simulate_all(story: Sequence[Step], config: Config) -> int:
    """Run the story; returns how many things were told."""

    async def scenario() -> int:
        storage = InMemoryStorage()
        told: defaultdict[str, set[ToldId]] = defaultdict(set)
        count = 0
        rest = list(story)
        while rest:
            async with simulated_daemon(storage=storage, config=config) as services:
                while rest and not isinstance(step := rest.pop(0), Restart):
                    count += await take(step, services, storage, told)
                await trio.sleep(1)
                await ask(services, Ask("another", "pool", 1), defaultdict(set))  # refused writes are written with this
        return count

    return simulate(scenario)


async def take(step: Step, services: Services, storage: InMemoryStorage, told: defaultdict[str, set[ToldId]]) -> int:
    match step:
        case Ask():
            return await ask(services, step, told)
        case Compact(session):
            start = {"hook_event_name": "SessionStart", "source": "compact", "session_id": session, "cwd": FOLDER}
            await services.hooks.take("claude-code", json.dumps(start).encode(), {}, retrieve=True)
            told[session].clear()
        case Learn(number, words):
            await learn(services, number, words, told)
        case State(number, words):
            await state(services, storage, number, words, told)
        case Busy():
            await trio.sleep(1)
            storage.fail_next_write(StorageBusy("locked"))
            await ask(services, Ask("another", "pool cache retry token queue", 1), defaultdict(set))
            await trio.sleep(1)
            storage._write_errors.clear()  # nothing was told, so nothing was written
    return 0


async def ask(services: Services, step: Ask, told: defaultdict[str, set[ToldId]]) -> int:
    namespace = (await FixedProjects().project_of(FOLDER)).namespace
    count = 0

    async def one() -> None:
        nonlocal count
        answer = await services.recall.answer(namespace, TextBody(step.query), session_id=step.session)
        ids = {*answer.record_ids, *answer.told_ids}
        assert told[step.session].isdisjoint(ids)
        told[step.session].update(ids)
        count += len(ids)

    async with trio.open_nursery() as nursery:
        for _ in range(step.count):
            nursery.start_soon(one)
    return count


async def learn(services: Services, number: int, words: str, told: defaultdict[str, set[ToldId]]) -> None:
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


async def state(
    services: Services, storage: InMemoryStorage, number: int, words: str, told: defaultdict[str, set[ToldId]]
) -> None:
    """Put items with ``words``; changed items may be told again."""
    namespace = (await FixedProjects().project_of(FOLDER)).namespace
    about = graph.entity(number, WORDS[number], namespace=namespace, description=words)
    items: tuple[GraphItem, ...] = (
        about,
        graph.fact(number, about, words, last_confirmed_at=EPOCH),
        graph.preference(number, namespace=namespace, key=f"key {number}", value=words, last_confirmed_at=EPOCH),
        graph.procedure(number, namespace=namespace, name=f"{WORDS[number]} it", steps=(words,), confidence=0.8),
    )
    before = await storage.get_graph_items(namespace, [item.item_id for item in items])
    changed = {item.item_id for item in items if before.get(item.item_id, item) != item}
    for session in told.values():
        session.difference_update(changed)
    await transact_in_daemon(services, lambda transaction: transaction.put_graph_items(items))
