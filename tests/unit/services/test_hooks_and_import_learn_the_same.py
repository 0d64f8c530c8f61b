"""A session makes the same memories reported by hooks, imported, or half reported and half imported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest
import trio

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.kiro_cli import KiroCliHistory
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.record import MemoryRecord
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.ports.histories import HistoryReader
from kiro_learn.services.histories import PastSessions, WantedSessions, as_event
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedProjects
from kiro_learn.testing.simulation import EPOCH, in_place
from kiro_learn.wire.messages import write_event
from tests.unit.adapters.histories.telling import Count, place_of
from tests.unit.services import one_session_twice as told
from tests.unit.services.in_daemon import in_daemon
from tests.unit.services.test_past_sessions import Record

Hooks: TypeAlias = Callable[[datetime, range | None], Iterator[tuple[dict[str, Any], datetime]]]

BEGAN_AT = EPOCH - timedelta(hours=3)
HALF = next(place for place, step in enumerate(told.STORY) if place >= len(told.STORY) // 2 and step.kind == "prompt")
"""The first step of the second half; the session is halved between two turns."""


@attrs.frozen
class Agent:
    """The agent of the session: its hooks, its history, and the reader of that history."""

    hooks: Hooks
    write: Callable[[Path, datetime], None]
    reader: HistoryReader


AGENTS = {
    "claude-code": Agent(told.claude_hooks, told.write_claude_history, ClaudeCodeHistory()),
    "kiro-cli": Agent(told.kiro_hooks, told.write_kiro_history, KiroCliHistory()),
}


@attrs.define
class Made:
    """The stored events and memories."""

    events: list[Event] = attrs.Factory(list)
    memories: list[MemoryRecord] = attrs.Factory(list)
    known: int = 0
    """The number of imported events that were already known."""

    @property
    def words(self) -> list[tuple[Any, ...]]:
        """Each memory without its id, and with the contents of events in place of their ids."""
        happened = {event.event_id: (event.kind, json.dumps(attrs.asdict(event.body))) for event in self.events}
        return sorted(
            (
                *(memory.title, memory.summary, memory.facts, memory.concepts, memory.observation_type.value),
                *(str(memory.knowledge_type), memory.files_read, memory.files_modified, memory.text, memory.details),
                sorted(happened[each] for each in memory.source_event_ids),
            )
            for memory in self.memories
        )  # fmt: skip  # a row


READ_BY_SUB_AGENTS: dict[str, list[tuple[str, ...]]] = {
    "claude-code": [("shop/wishlist.py", "shop/feed.py")],
    "kiro-cli": [],
}
"""The one expected difference: a sub-agent has a session of its own, so its parent's memory lacks its files."""
FILES_READ = 6
"""The column of the files read in ``Made.words``."""


def assert_same(imported: Made, reported: Made, files_alone: list[tuple[str, ...]]) -> None:
    """``files_alone``: the files read by only the memories from hooks."""
    assert [row[:FILES_READ] + row[FILES_READ + 1 :] for row in imported.words] == [
        row[:FILES_READ] + row[FILES_READ + 1 :] for row in reported.words
    ]
    pairs = zip(imported.words, reported.words, strict=True)
    assert [row[FILES_READ] for other, row in pairs if other[FILES_READ] != row[FILES_READ]] == files_alone


async def report(services: Services, agent: Agent, steps: range | None = None) -> None:
    for number, (payload, at) in enumerate(agent.hooks(BEGAN_AT, steps)):
        headers = {"x-hook-event-id": f"01{number:024d}", "x-hook-time": str(round(at.timestamp() * 1000))}
        await services.hooks.take(agent.reader.agent, json.dumps(payload).encode(), headers, retrieve=False)


async def bring_in(services: Services, agent: Agent, user: Path) -> int:
    """Import the agent's past sessions; return how many of their events were known."""
    past = PastSessions((agent.reader,), place_of(user), Record(), now=datetime.now(UTC) + timedelta(days=1))
    lines = []
    for found in past.found(WantedSessions()):
        for event in past.events(found, Count()):
            project = await FixedProjects().project_of(event.folder)
            lines.append(json.dumps(write_event(as_event(event, project, agent=agent.reader.agent))).encode())
    outcomes = await services.capture.take_lines(lines, most_bytes=1_000_000, unless_reported=True)
    return sum(outcome.stored is False for outcome in outcomes)  # type: ignore[union-attr]  # an error fails here


def made(agent: Agent, user: Path, *, by_hooks: range | None, imports: bool, learns_between: bool = False) -> Made:
    """What is stored if hooks report the steps ``by_hooks``, and the history is then imported if ``imports``."""
    result = Made()

    async def scenario(services: Services) -> None:
        project = await FixedProjects().project_of(told.FOLDER)
        if by_hooks is not None:
            await report(services, agent, by_hooks)
        if learns_between:
            await services.learn.flush(project.project_id)
        if imports:
            agent.write(user, BEGAN_AT)
            result.known = await bring_in(services, agent, user)
        await services.learn.flush(project.project_id)
        await trio.sleep(10)
        page = await services.queries.events(namespace=None, limit=200, cursor=None)
        result.events = list(page.items)
        result.memories = list((await services.queries.records(namespace=None, limit=500, offset=0)).items)

    in_daemon(scenario, llm=BuiltInLearner(in_place))
    return result


@pytest.mark.parametrize("name", AGENTS)
def test_both_make_the_same_memories(name: str, tmp_path: Path) -> None:
    agent, all_steps = AGENTS[name], range(len(told.STORY))
    reported = made(agent, tmp_path, by_hooks=all_steps, imports=False)
    imported = made(agent, tmp_path, by_hooks=None, imports=True)
    assert len(imported.events) == len(told.STORY)
    notes = Counter(event.kind for event in reported.events) - Counter(event.kind for event in imported.events)
    assert notes == {EventKind.NOTE: 1}, "that the session started is the only event that an import does not have"
    assert len(reported.memories) >= 9
    assert_same(imported, reported, READ_BY_SUB_AGENTS[name])


@pytest.mark.parametrize("learns_between", [False, True])
@pytest.mark.parametrize("name", AGENTS)
def test_half_by_hooks_and_then_an_import_makes_them_once(name: str, learns_between: bool, tmp_path: Path) -> None:
    agent, all_steps = AGENTS[name], range(len(told.STORY))
    reported = made(agent, tmp_path, by_hooks=all_steps, imports=False)
    mixed = made(agent, tmp_path, by_hooks=range(HALF), imports=True, learns_between=learns_between)
    assert (len(mixed.events), mixed.known) == (len(told.STORY) + 1, HALF)
    assert_same(mixed, reported, READ_BY_SUB_AGENTS[name])
