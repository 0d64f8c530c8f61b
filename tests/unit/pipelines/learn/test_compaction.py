"""A buffer that is not learned for long is compacted, and all of it is learned in the end."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from structlog.testing import capture_logs

from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.actors.patient import (
    Patient,
    cited_events,
    config,
    once_each,
    out_of_sorts,
    project,
    put_unseen,
    take,
)


class TestCompaction:
    def test_a_buffer_that_is_not_learned_is_compacted_and_its_events_are_cited_in_the_end(self) -> None:
        llm = Patient(learn=out_of_sorts)

        async def scenario() -> tuple[int, int, int]:
            async with simulated_daemon(llm=llm, config=config()) as services:
                await take(services, range(10))
                await trio.sleep(35)
                compacted = (await project(services)).waiting_bytes
                llm.learn = a_record_per_event
                await trio.sleep(600)
                assert await cited_events(services) == once_each(range(10))
                records = (await services.queries.records(namespace=NAMESPACE, limit=100, offset=0)).total
                return compacted, records, llm.asked["compaction"]

        compacted, records, compactions = simulate(scenario)
        assert compacted <= 700
        assert (records, compactions) == (6, 1), "the five oldest became one, the others were learned as they are"

    def test_what_arrives_while_the_model_thinks_survives(self) -> None:
        llm = Patient(learn=out_of_sorts)

        async def scenario() -> None:
            async with simulated_daemon(llm=llm, config=config()) as services:
                await take(services, range(10))
                await trio.sleep(29.9)
                llm.gate = trio.Event()
                await trio.sleep(1)
                await take(services, range(10, 14))
                llm.gate.set()
                await trio.sleep(1)
                assert llm.asked["compaction"] > 0
                assert (await project(services)).waiting_event_count == 14
                llm.learn = a_record_per_event
                await trio.sleep(600)
                assert await cited_events(services) == once_each(range(14))

        simulate(scenario)

    def test_two_entries_are_enough_to_become_one(self) -> None:
        llm, storage = Patient(learn=out_of_sorts), InMemoryStorage()

        async def scenario() -> int:
            async with simulated_daemon(storage=storage, llm=llm, config=config()) as services:
                for number in range(3):
                    await services.capture.take(an_event(number, text=f"event {number} " + "x" * 290))
                await trio.sleep(35)
                return len((await storage.snapshot_buffer(NAMESPACE, most_bytes=10_000)).entries)

        assert simulate(scenario) == 2, "the two oldest, which are within the threshold together, became one"
        assert llm.asked["compaction"] == 1

    def test_a_small_buffer_is_left_alone(self) -> None:
        llm = Patient(learn=out_of_sorts)

        async def scenario() -> None:
            async with simulated_daemon(llm=llm, config=config()) as services:
                await take(services, range(3))
                await trio.sleep(300)

        simulate(scenario)
        assert llm.asked["compaction"] == 0

    @pytest.mark.parametrize(
        "answer", ["I cannot do that.", "", "<compacted_entry>" + "y" * 5000 + "</compacted_entry>"]
    )
    def test_a_model_that_cannot_compact_either_has_the_oldest_half_set_aside(self, answer: str) -> None:
        llm = Patient(learn=out_of_sorts, compact=lambda _prompt: answer)

        async def scenario() -> tuple[int, int]:
            async with simulated_daemon(llm=llm, config=config(failures=2)) as services:
                await take(services, range(9))
                await trio.sleep(45)
                sick = await project(services)
                llm.learn = a_record_per_event
                await trio.sleep(600)
                assert await cited_events(services) == once_each(range(9))
                assert (await project(services)).parked_event_count == 0
                return sick.waiting_event_count, sick.parked_event_count

        assert simulate(scenario) == (5, 4)
        assert llm.asked["compaction"] == 2

    def test_a_model_that_takes_too_long_over_it_is_not_asked_twice(self) -> None:
        llm = Patient(learn=out_of_sorts)

        async def scenario() -> str | None:
            async with simulated_daemon(llm=llm, config=config(attempts=3, failures=1, model_seconds=60)) as services:
                await take(services, range(9))
                await trio.sleep(29.9)
                llm.gate = trio.Event()
                await trio.sleep(125)
                return (await project(services)).problem

        assert simulate(scenario) == "the learner took too long"

    def test_without_a_model_the_oldest_half_is_set_aside(self) -> None:
        async def scenario() -> tuple[int, int]:
            async with simulated_daemon(llm=ScriptedLlm(out_of_sorts), config=config()) as services:
                await take(services, range(9))
                await trio.sleep(35)
                sick = await project(services)
                return sick.waiting_event_count, sick.parked_event_count

        assert simulate(scenario) == (5, 4)

    def test_a_secret_that_the_model_repeats_does_not_come_back(self) -> None:
        secret = "ghp_" + "a1B2c3D4e5" * 4
        llm = Patient(learn=out_of_sorts, compact=lambda _: f"<compacted_entry>the token {secret}</compacted_entry>")
        storage = InMemoryStorage()

        async def scenario() -> str:
            async with simulated_daemon(storage=storage, llm=llm, config=config()) as services:
                await take(services, range(10))
                await trio.sleep(35)
                (oldest, *_) = (await storage.snapshot_buffer(NAMESPACE, most_bytes=10_000)).entries
                return str(oldest.event.body)

        compacted = simulate(scenario)
        assert "the token" in compacted
        assert secret not in compacted


class TestCeiling:
    @pytest.mark.parametrize("enabled", [True, False])
    def test_a_buffer_above_it_has_its_oldest_half_set_aside_and_back(self, *, enabled: bool) -> None:
        llm = Patient()

        async def scenario() -> tuple[int, int]:
            async with simulated_daemon(llm=llm, config=config(ceiling_bytes=1000, enabled=enabled)) as services:
                await take(services, range(10))
                await trio.sleep(1)
                full = (await services.health.status()).waiting
                await trio.sleep(100)
                assert await cited_events(services) == once_each(range(10))
                return full.event_count, full.parked_event_count

        waiting_count, parked_count = simulate(scenario)
        assert waiting_count + parked_count == 10
        assert 3 <= parked_count <= 6  # half of the events that had come when the project's actor looked

    def test_it_is_warned_of_once_however_often_it_takes(self) -> None:
        storage = InMemoryStorage()

        async def scenario() -> None:
            for number in range(10):
                await transact_one(storage, partial(put_unseen, number))
            async with simulated_daemon(storage=storage, config=config(ceiling_bytes=30)) as services:
                await trio.sleep(60)
                assert await cited_events(services) == once_each(range(10))

        with capture_logs() as logs:
            simulate(scenario)
        set_aside = [(each["log_level"], each["entry_count"]) for each in logs if each["event"] == "buffer.set_aside"]
        assert set_aside == [("warning", 5), ("info", 2)]

    def test_an_entry_alone_above_it_is_learned(self) -> None:
        async def scenario() -> None:
            async with simulated_daemon(llm=Patient(), config=config(ceiling_bytes=1)) as services:
                await take(services, range(1))
                await trio.sleep(40)
                assert await cited_events(services) == once_each(range(1))

        simulate(scenario)
