"""An unexpected error never ends a project's actor unnoticed: the status shows it, and the rest goes on."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from kiro_learn.actors.project import Projects, ProjectStatistics
from kiro_learn.errors import ActorStopped, UnexpectedError
from kiro_learn.model.buffer import BufferSize, ParkedCluster
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.model.record import MemoryRecord
from kiro_learn.testing.daemon import NAMESPACE, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.actors.patient import Patient, cited_events, config, once_each, project, take, wait_cited
from tests.unit.pipelines.learn.learning_rig import PickyStorage

PROJECT = project_id_in(NAMESPACE)
SHOWN = "learning was ended by an unexpected Bug"


class Bug(Exception):
    """An exception that no code expects."""


def buggy(prompt: str) -> str:
    if "event 3 " in prompt:
        raise Bug("with contents")
    return a_record_per_event(prompt)


@pytest.mark.parametrize("llm", [Patient, ScriptedLlm])
def test_one_event_that_a_bug_ends_every_run_of_is_set_aside_and_the_rest_is_learned(llm: type[Patient]) -> None:
    learner = llm(buggy)

    async def scenario() -> ProjectStatistics:
        async with simulated_daemon(llm=learner, config=config()) as services:
            for number in range(6):
                await services.capture.take(an_event(number, text=f"event {number} ", session=str(number)))
            await wait_cited(services, 5, patience_seconds=120)
            assert await cited_events(services) == once_each({0, 1, 2, 4, 5})
            await trio.sleep(3600)
            shown = await project(services)
            learner.script = learner.learn = a_record_per_event
            await trio.sleep(1200)
            assert await cited_events(services) == once_each(range(6))
            return shown

    statistics = simulate(scenario)
    assert statistics.problem == SHOWN
    assert statistics.waiting_event_count + statistics.parked_event_count == 1


def test_a_model_is_not_asked_forever_for_what_a_bug_ends() -> None:
    """In a whole day, the calls stay within the day's limit."""

    def always(_prompt: str) -> str:
        raise Bug

    model = Patient(always)

    async def scenario() -> ProjectStatistics:
        async with simulated_daemon(llm=model, config=config()) as services:
            await take(services, range(4))
            await trio.sleep(24 * 3600)
            return await project(services)

    statistics = simulate(scenario)
    assert statistics.problem == SHOWN
    assert statistics.waiting_event_count + statistics.parked_event_count == 4
    assert model.asked["learning"] <= 200


def test_a_flush_is_told_of_it() -> None:
    async def scenario() -> None:
        async with simulated_daemon(llm=ScriptedLlm(buggy), config=config()) as services:
            await services.capture.take(an_event(3, text="event 3 "))
            with pytest.raises(UnexpectedError, match="an unexpected Bug"):
                await services.learn.flush(PROJECT)

    simulate(scenario)


class BrokenStorage(PickyStorage):
    """A store that refuses event 1; while it is broken, it gives answers that no code of ours can work with."""

    def __init__(self) -> None:
        super().__init__(lambda title: title == "event 1")
        self.has_broken_clusters = False
        self.has_broken_buffers = False
        self.tried_count = 0

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        clusters = await super().list_parked_clusters(namespace)
        return [self._broken(cluster) for cluster in clusters] if self.has_broken_clusters else clusters

    def _broken(self, cluster: ParkedCluster) -> ParkedCluster:
        return attrs.evolve(cluster, records=map(self._try, cluster.records))  # type: ignore[arg-type]  # broken on purpose

    def _try(self, _record: MemoryRecord) -> MemoryRecord:
        self.tried_count += 1
        raise Bug

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        if self.has_broken_buffers:
            raise Bug
        return await super().get_buffer_size(namespace)


def test_what_ends_the_retry_of_a_parked_cluster_is_shown_and_paced_and_others_go_on() -> None:
    storage = BrokenStorage()

    async def scenario() -> str | None:
        async with simulated_daemon(storage=storage, config=config()) as services:
            await take(services, range(2))
            await trio.sleep(35)
            storage.has_broken_clusters = True
            await trio.sleep(3600)
            shown = (await project(services)).problem
            await take(services, range(2, 4))
            await wait_cited(services, 3, patience_seconds=60)
            storage.has_broken_clusters, storage.refuses = False, lambda _title: False
            await wait_cited(services, 4, patience_seconds=700)
            return shown

    assert simulate(scenario) == SHOWN
    assert storage.tried_count <= 14


def test_a_bug_in_reading_what_waits_is_shown_and_it_is_learned_later() -> None:
    storage = BrokenStorage()

    async def scenario() -> str | None:
        async with simulated_daemon(storage=storage, config=config()) as services:
            storage.has_broken_buffers, storage.refuses = True, lambda _title: False
            await take(services, range(1))
            await trio.sleep(7200)
            shown = (await project(services)).problem
            storage.has_broken_buffers = False
            await wait_cited(services, 1, patience_seconds=700)
            return shown

    assert simulate(scenario) == SHOWN


def test_an_actor_that_ends_for_good_stays_in_the_status_until_another_takes_its_place() -> None:
    class Ended:
        name = "project"
        is_retired = False
        problem: str | None = None

        def note_end(self, error: Exception) -> None:
            self.problem = type(error).__name__

        def events_arrived(self, _event_count: int, _size_bytes: int, *, is_within_turn: bool) -> None: ...

        def statistics(self) -> str | None:
            return self.problem

        async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            task_status.started()
            raise Bug

        def stop(self) -> None: ...

        def abandon(self) -> None:
            self.is_retired = True

    async def scenario() -> list[Any]:
        projects = Projects(InMemoryStorage(), lambda _namespace: Ended())  # type: ignore[arg-type,return-value]  # as much of one as is needed
        async with trio.open_nursery() as nursery:
            await nursery.start(projects.run)
            projects.events_arrived(NAMESPACE, 1, 1)
            await trio.sleep(1)
            shown = list(projects.statistics())
            projects.events_arrived(NAMESPACE, 1, 1)
            shown += projects.statistics()
            projects.stop()
        with pytest.raises(ActorStopped):
            await projects.flush(NAMESPACE)
        return shown

    assert simulate(scenario) == ["Bug", None]
