"""An observation is a repeat exactly if the same one was stored within its type's window, before or after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import trio
from hypothesis import strategies as st

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.observation import Observation
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.observe import Observe
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.projects_in_use import MergedProjects
from kiro_learn.testing.daemon import FixedProjects
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage

START = datetime(2026, 1, 5, tzinfo=UTC)
WINDOWS = {"file-read": 60, "file-write": 10, "command": 30, "research": 120, "delegation": 30, "anything": 30}
EDGES = [sign * (window + tick) for window in (0, 10, 30, 60, 120) for tick in (-1e-6, 0, 1e-6) for sign in (-1, 1)]

jumps = st.one_of(st.sampled_from(EDGES), st.floats(-200, 200), st.sampled_from([-3600, 3600]))
steps = st.lists(st.tuples(jumps, st.sampled_from(sorted(WINDOWS)), st.sampled_from(["a", "b"])), max_size=12)


@scheduled(story=steps)
async def test_dedupe_windows(story: list[tuple[float, str, str]]) -> None:
    """The clock jumps forwards and backwards between observations, to the edges of all windows and beyond."""
    now = START
    ulids = iter(range(1000))
    clock = ClockAndIds(utc_now=lambda: now, new_ulid=lambda: f"{next(ulids):026}")
    storage = InMemoryStorage()
    writer = StorageActor(storage, batch_count=10)
    projects = ProjectNames(storage, FixedProjects(), actor_id="ada", merged=MergedProjects())
    observe = Observe(writer, projects, clock, actor_id="ada")
    stored: dict[tuple[str, str], list[datetime]] = {}
    async with supervised(writer):
        for jump, kind, title in story:
            now += timedelta(seconds=jump)
            before = stored.setdefault((kind, title), [])
            window = timedelta(seconds=WINDOWS[kind])
            expected = any(abs(now - earlier) < window for earlier in before)
            done = await observe.observe(Observation(project="p", type=kind, title=title))
            assert done.is_repeat == expected
            if not expected:
                before.append(now)
        await trio.lowlevel.checkpoint()
